"""Constructors that the files of PyTorch, NumPy and the trainers call, and the arguments of each.

A name is listed here if importing it, and calling it with arguments of these kinds, only makes a number, a container, a
tensor or a record. The rebuilding functions are those that `torch.load(weights_only=True)` allows
(`torch/_weights_only_unpickler.py`), with their parameters in `torch/_utils.py`; NumPy's are what `ndarray.__reduce__`
and `dtype.__reduce__` return; modules of PyTorch before 1.5 name their backend, a namespace; torchao's are those that
torchao 0.18 itself adds to PyTorch's safe globals; scikit-learn's estimators are made without a call, and get their
fields (`BaseEstimator.__setstate__`, tried with 1.9.1; in older releases under the second name), and so are the spaces
and schedules of an agent (Gymnasium 1.4.0, Stable Baselines 2.9.2); enumerations and records are those of
`training_args.bin`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from inspector.formats.pytorch.values import Blob, Dictionary, Global, Made, Persistent

_DTYPES = """
float64 double float32 float float16 half bfloat16 complex32 complex64 complex128 uint8 int8 int16 short int32 int
int64 long uint16 uint32 uint64 bool qint8 quint8 qint32 quint4x2 quint2x4 bits1x8 bits2x4 bits4x2 bits8 bits16
float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2
uint1 uint2 uint3 uint4 uint5 uint6 uint7 int1 int2 int3 int4 int5 int6 int7
strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged
per_tensor_affine per_tensor_symmetric per_channel_affine per_channel_symmetric per_channel_affine_float_qparams
preserve_format contiguous_format channels_last channels_last_3d
"""
_STORAGES = """
Double Float Half BFloat16 ComplexDouble ComplexFloat Long Int Short Char Byte Bool
QUInt8 QInt8 QInt32 QUInt4x2 QUInt2x4
"""
_TENSORS = "Double Float Half BFloat16 Long Int Short Char Byte Bool"

#: Names, several at a time as `{one,another}` → their arguments, alternatives separated by `|`: kinds of `_KINDS`, `?`
#: for optional, `*` for any number of them. `-`: named, but never called.
_TABLE = """
collections.OrderedDict: any?
collections.defaultdict: name any?
collections.Counter: dict?
collections.deque: any? int?
builtins.{set,frozenset,list,tuple,dict}: any?
builtins.int: scalar? int?
builtins.{float,bool}: scalar?
builtins.{str,NoneType,Ellipsis}: -
builtins.{bytes,bytearray}: scalar? text?
builtins.complex: scalar? scalar?
builtins.slice: scalar? scalar? scalar?
builtins.range: int int? int?
builtins.object:
torch.jit._pickle.{build_intlist,build_tensorlist,build_doublelist,build_boollist}: any
torch.jit._pickle.restore_type_tag: any text
types.NoneType: -
typing.{Any,Dict,List,Optional,Sequence,Tuple,Union}: -
omegaconf.{dictconfig.DictConfig,listconfig.ListConfig}:
omegaconf.nodes.{AnyNode,StringNode,IntegerNode,FloatNode,BooleanNode,BytesNode,PathNode,EnumNode}:
omegaconf.base.{Metadata,ContainerMetadata}:
torch.jit._script.unpackage_script_module: any text
{lightning.fabric,lightning_fabric,pytorch_lightning}.utilities.data.AttributeDict: any*
{pytorch_lightning,lightning.pytorch}.utilities.parsing.AttributeDict: any*
_codecs.encode: scalar codec?
copyreg._reconstructor: class object none
copyreg.__newobj__: class any*
argparse.Namespace:
datetime.datetime: bytes any? | int int int int* | text any?
datetime.date: bytes | int int int
datetime.time: bytes any? | int*
datetime.timedelta: int* | scalar scalar? scalar?
datetime.timezone: any any?
decimal.Decimal: text
fractions.Fraction: text | int int
pathlib.{Path,PosixPath,PurePath,PurePosixPath,WindowsPath,PureWindowsPath}: text*
pathlib._local.{PosixPath,PurePosixPath,WindowsPath,PureWindowsPath}: text*
torch.Size: sizes?
torch.device: text int?
torch.dtype: -
torch.Tensor: tensor?
torch._utils._rebuild_tensor: storage int sizes sizes
torch._utils._rebuild_tensor_v2: storage int sizes sizes bool? any? any?
torch._utils._rebuild_tensor_v3: storage int sizes sizes bool any dtype any?
torch._utils._rebuild_parameter: tensor bool any
torch.nn.backends.thnn._get_thnn_function_backend:
torch._utils._rebuild_parameter_with_state: tensor bool any any
torch._utils._rebuild_qtensor: storage int sizes sizes any bool any
torch._utils.{_rebuild_sparse_tensor,_rebuild_sparse_csr_tensor}: any any
torch._utils._rebuild_meta_tensor_no_storage: dtype sizes sizes bool
torch._utils._rebuild_nested_tensor: tensor tensor tensor tensor
torch._utils._rebuild_wrapper_subclass: class dtype sizes sizes int any any bool
torch._utils.{_rebuild_device_tensor_from_numpy,_rebuild_device_tensor_from_cpu_tensor}: tensor dtype text bool
torch._utils._rebuild_xla_tensor: tensor dtype text bool
torch._tensor._rebuild_from_type_v2: name class tuple any
torch._tensor._rebuild_from_type: name class tuple dict
torch.serialization._get_layout: text
torch.nested._internal.nested_tensor.NestedTensor: -
torch.nested._internal.nested_tensor._rebuild_njt: any*
torch._dynamo.decorators._DimRange: any*
torch.{nn.parameter,nn}.Parameter: tensor? bool?
torch.nn.parameter.Buffer: tensor? bool? bool?
torchao.quantization.{Float8Tensor,Int4PlainInt32Tensor,Int4PreshuffledTensor,Int4Tensor,Int8Tensor}: -
torchao.quantization.{Int4TilePackedTo4dTensor,IntxOpaqueTensor,IntxUnpackedToInt8Tensor}: -
torchao.quantization.granularity.{PerAxis,PerBlock,PerGroup,PerRow,PerTensor,PerToken}: any*
torchao.quantization.quant_primitives.{MappingType,ZeroPointDomain}: scalar
torchao.quantization.quantize_.common.kernel_preference.KernelPreference: text
torchao.quantization.quantize_.workflows.float8.float8_tensor.QuantizeTensorToFloat8Kwargs: any*
torchao.quantization.quantize_.workflows.int8.int8_tensor.QuantizeTensorToInt8Kwargs: any*
torch.nn.modules.activation.{CELU,ELU,GELU,GLU,Hardshrink,Hardsigmoid,Hardswish,Hardtanh,LeakyReLU,LogSigmoid}:
torch.nn.modules.activation.{LogSoftmax,Mish,MultiheadAttention,PReLU,RReLU,ReLU,ReLU6,SELU,SiLU,Sigmoid,Softmax}:
torch.nn.modules.activation.{Softmax2d,Softmin,Softplus,Softshrink,Softsign,Tanh,Tanhshrink,Threshold}:
torch.nn.modules.adaptive.AdaptiveLogSoftmaxWithLoss:
torch.nn.modules.batchnorm.{BatchNorm1d,BatchNorm2d,BatchNorm3d,SyncBatchNorm,_BatchNorm,_NormBase}:
torch.nn.modules.channelshuffle.ChannelShuffle:
torch.nn.modules.container.{Container,ModuleDict,ModuleList,ParameterDict,ParameterList,Sequential}:
torch.nn.modules.conv.{Conv1d,Conv2d,Conv3d,ConvTranspose1d,ConvTranspose2d,ConvTranspose3d,_ConvNd}:
torch.nn.modules.conv.{_ConvTransposeMixin,_ConvTransposeNd}:
torch.nn.modules.distance.{CosineSimilarity,PairwiseDistance}:
torch.nn.modules.dropout.{AlphaDropout,Dropout,Dropout1d,Dropout2d,Dropout3d,FeatureAlphaDropout,_DropoutNd}:
torch.nn.modules.flatten.{Flatten,Unflatten}:
torch.nn.modules.fold.{Fold,Unfold}:
torch.nn.modules.instancenorm.{InstanceNorm1d,InstanceNorm2d,InstanceNorm3d,_InstanceNorm}:
torch.nn.modules.linear.{Bilinear,Identity,Linear,NonDynamicallyQuantizableLinear}:
torch.nn.modules.loss.{BCELoss,BCEWithLogitsLoss,CTCLoss,CosineEmbeddingLoss,CrossEntropyLoss,GaussianNLLLoss}:
torch.nn.modules.loss.{HingeEmbeddingLoss,HuberLoss,KLDivLoss,L1Loss,LinearCrossEntropyLoss,MSELoss}:
torch.nn.modules.loss.{MarginRankingLoss,MultiLabelMarginLoss,MultiLabelSoftMarginLoss,MultiMarginLoss,NLLLoss}:
torch.nn.modules.loss.{NLLLoss2d,PoissonNLLLoss,SmoothL1Loss,SoftMarginLoss,TripletMarginLoss}:
torch.nn.modules.loss.{TripletMarginWithDistanceLoss,_Loss,_WeightedLoss}:
torch.nn.modules.module.Module:
torch.nn.modules.normalization.{CrossMapLRN2d,GroupNorm,LayerNorm,LocalResponseNorm,RMSNorm}:
torch.nn.modules.padding.{CircularPad1d,CircularPad2d,CircularPad3d,ConstantPad1d,ConstantPad2d,ConstantPad3d}:
torch.nn.modules.padding.{ReflectionPad1d,ReflectionPad2d,ReflectionPad3d,ReplicationPad1d,ReplicationPad2d}:
torch.nn.modules.padding.{ReplicationPad3d,ZeroPad1d,ZeroPad2d,ZeroPad3d,_CircularPadNd,_ConstantPadNd}:
torch.nn.modules.padding.{_ReflectionPadNd,_ReplicationPadNd}:
torch.nn.modules.pixelshuffle.{PixelShuffle,PixelUnshuffle}:
torch.nn.modules.pooling._MaxUnpoolNd:
torch.nn.modules.pooling.{AdaptiveAvgPool1d,AdaptiveAvgPool2d,AdaptiveAvgPool3d,AdaptiveMaxPool1d,AdaptiveMaxPool2d}:
torch.nn.modules.pooling.{AdaptiveMaxPool3d,AvgPool1d,AvgPool2d,AvgPool3d,FractionalMaxPool2d,FractionalMaxPool3d}:
torch.nn.modules.pooling.{LPPool1d,LPPool2d,LPPool3d,MaxPool1d,MaxPool2d,MaxPool3d,MaxUnpool1d,MaxUnpool2d}:
torch.nn.modules.pooling.{MaxUnpool3d,_AdaptiveAvgPoolNd,_AdaptiveMaxPoolNd,_AvgPoolNd,_LPPoolNd,_MaxPoolNd}:
torch.nn.modules.rnn.{GRU,LSTM,RNN,RNNBase}:
torch.nn.modules.rnn.{GRUCell,LSTMCell,RNNCell,RNNCellBase}:
torch.nn.modules.sparse.{Embedding,EmbeddingBag}:
torch.nn.modules.transformer.TransformerEncoderLayer:
torch.nn.modules.transformer.{Transformer,TransformerDecoder,TransformerDecoderLayer,TransformerEncoder}:
torch.nn.modules.upsampling.{Upsample,UpsamplingBilinear2d,UpsamplingNearest2d}:
torch.storage.{UntypedStorage,_UntypedStorage}: int?
torch.storage.{TypedStorage,_TypedStorage}: -
torch._C._TensorBase: -
torch.distributed.{tensor,tensor.api,_tensor.api,tensor._api}.DTensor: -
torch.distributed.tensor._dtensor_spec.DTensorSpec:
torch.distributed.tensor._dtensor_spec.{TensorMeta,ShardOrderEntry}: any*
torch.distributed.tensor.placement_types.{Shard,_StridedShard,Replicate,Partial}:
torch.distributed._tensor.placement_types.{DTensorSpec,Shard,Replicate,_Partial}:
torch.distributed._tensor.placement_types.TensorMeta: any*
torch.distributed.device_mesh.DeviceMesh:
torch.distributed._mesh_layout.{_MeshLayout,_FlatLayout}:
torch.distributed._shard.sharded_tensor.api.ShardedTensor: -
torch.distributed._shard.sharded_tensor.api.ShardedTensor.ProcessGroupState:
torch.distributed._shard.sharded_tensor.shard.Shard:
torch.distributed._shard.sharded_tensor.metadata.{ShardedTensorMetadata,TensorProperties}:
torch.distributed._shard.sharded_tensor.metadata.MEM_FORMAT_ENCODING: scalar
torch.distributed._shard.metadata.ShardMetadata:
torch.distributed._shard.sharding_spec.chunk_sharding_spec.ChunkShardingSpec:
torch.distributed._shard.sharding_spec.api.EnumerableShardingSpec:
torch.distributed.remote_device._remote_device:
deepspeed.runtime.zero.config.ZeroStageEnum: scalar
deepspeed.utils.tensor_fragment.fragment_address:
deepspeed.runtime.fp16.loss_scaler.{LossScaler,DynamicLossScaler}:
torch.distributed.checkpoint.metadata.{Metadata,MetadataIndex,TensorStorageMetadata,BytesStorageMetadata}:
torch.distributed.checkpoint.metadata.{ChunkStorageMetadata,TensorProperties,StorageMeta}:
torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING: scalar
torch.distributed.checkpoint.filesystem._StorageInfo:
numpy.dtype: type bool? bool?
numpy.{ndarray,float64,float32,float16,int64,int32,int16,int8,uint8,uint16,uint32,uint64,bool_,bool,str_}: -
numpy.{core.multiarray,_core.multiarray}._reconstruct: array sizes scalar
numpy.{core.multiarray,_core.multiarray}.scalar: simple scalar
numpy.{core.numeric,_core.numeric}._frombuffer: scalar simple sizes text
numpy.random._pickle.{__randomstate_ctor,__generator_ctor}: text? | tensor
numpy.random._pickle.__bit_generator_ctor: text? | name
numpy.random.bit_generator.SeedSequence: any*
numpy.random.bit_generator.__pyx_unpickle_SeedSequence: class any any
numpy.random._mt19937.MT19937:
numpy.random._pcg64.{PCG64,PCG64DXSM}:
numpy.random._philox.Philox:
numpy.random._sfc64.SFC64:
{joblib,sklearn.externals.joblib}.numpy_pickle.NumpyArrayWrapper:
sklearn.calibration.{CalibratedClassifierCV,_CalibratedClassifier,_SigmoidCalibration}:
sklearn.cluster.{_kmeans,k_means_}.{KMeans,MiniBatchKMeans}:
sklearn.compose._column_transformer.ColumnTransformer:
sklearn.decomposition.{_pca,pca}.PCA:
sklearn.decomposition.{_truncated_svd,truncated_svd}.TruncatedSVD:
sklearn.ensemble.{_forest,forest}.{RandomForestClassifier,RandomForestRegressor,ExtraTreesClassifier,ExtraTreesRegressor}:
sklearn.ensemble.{_gb,gradient_boosting}.{GradientBoostingClassifier,GradientBoostingRegressor}:
sklearn.ensemble.{_iforest,iforest}.IsolationForest:
sklearn.ensemble.{_voting,voting}.{VotingClassifier,VotingRegressor}:
sklearn.feature_extraction.text.{CountVectorizer,TfidfTransformer,TfidfVectorizer,HashingVectorizer}:
sklearn.impute._base.SimpleImputer:
sklearn.linear_model.{_logistic,logistic}.{LogisticRegression,LogisticRegressionCV}:
sklearn.linear_model.{_base,base}.LinearRegression:
sklearn.linear_model.{_ridge,ridge}.{Ridge,RidgeCV,RidgeClassifier}:
sklearn.linear_model.{_coordinate_descent,coordinate_descent}.{ElasticNet,ElasticNetCV,Lasso,LassoCV}:
sklearn.linear_model.{_stochastic_gradient,stochastic_gradient}.{SGDClassifier,SGDRegressor}:
sklearn.naive_bayes.{BernoulliNB,ComplementNB,GaussianNB,MultinomialNB}:
sklearn.pipeline.{Pipeline,FeatureUnion}:
sklearn.preprocessing.{_data,data}.{MaxAbsScaler,MinMaxScaler,PolynomialFeatures,QuantileTransformer,RobustScaler,StandardScaler}:
sklearn.preprocessing.{_encoders,label,_label}.{LabelBinarizer,LabelEncoder,MultiLabelBinarizer,OneHotEncoder,OrdinalEncoder}:
sklearn.svm.{_classes,classes}.{LinearSVC,LinearSVR,NuSVC,OneClassSVM,SVC,SVR}:
sklearn.tree.{_classes,tree}.{DecisionTreeClassifier,DecisionTreeRegressor,ExtraTreeClassifier,ExtraTreeRegressor}:
sklearn.tree._tree.Tree: int any int
scipy.sparse.{_csr,csr}.csr_matrix:
scipy.sparse.{_dia,dia}.dia_matrix:
transformers.generation.configuration_utils.GenerationConfig:
transformers.activations.{AccurateGELUActivation,ClippedGELUActivation,FastGELUActivation,GELUActivation,GELUTanh}:
transformers.activations.{LaplaceActivation,LinearActivation,MishActivation,NewGELUActivation,PytorchGELUTanh}:
transformers.activations.{QuickGELUActivation,ReLUSquaredActivation,SiLUActivation,SqrtSoftplusActivation}:
transformers.activations.{XIELUActivation}:
gymnasium.spaces.{box.Box,dict.Dict,discrete.Discrete,multi_binary.MultiBinary,multi_discrete.MultiDiscrete}:
gymnasium.spaces.{graph.Graph,oneof.OneOf,sequence.Sequence,text.Text,tuple.Tuple}:
stable_baselines3.common.policies.{ActorCriticCnnPolicy,ActorCriticPolicy,MultiInputActorCriticPolicy}: -
stable_baselines3.{dqn,sac,td3}.policies.{CnnPolicy,DQNPolicy,MlpPolicy,MultiInputPolicy,SACPolicy,TD3Policy}: -
stable_baselines3.common.buffers.{DictReplayBuffer,DictRolloutBuffer,NStepReplayBuffer,ReplayBuffer,RolloutBuffer}: -
stable_baselines3.common.utils.{ConstantSchedule,FloatSchedule,LinearSchedule}:
stable_baselines3.common.noise.{NormalActionNoise,OrnsteinUhlenbeckActionNoise,VectorizedActionNoise}:
transformers.training_args.TrainingArguments:
transformers.training_args_seq2seq.Seq2SeqTrainingArguments:
transformers.training_args.{OptimizerNames,ParallelMode}: text
transformers.trainer_utils.{IntervalStrategy,SaveStrategy,EvaluationStrategy,SchedulerType,HubStrategy}: text
transformers.trainer_utils.{FSDPOption,ShardedDDPOption}: text
transformers.trainer_utils.BestRun: any*
transformers.debug_utils.DebugOption: text
transformers.trainer_pt_utils.AcceleratorConfig:
transformers.{integrations.deepspeed,deepspeed}.{HfTrainerDeepSpeedConfig,HfDeepSpeedConfig}:
accelerate.state.{PartialState,AcceleratorState}:
accelerate.utils.deepspeed.HfDeepSpeedConfig:
accelerate.utils.dataclasses.DistributedType: text
accelerate.utils.dataclasses.{DeepSpeedPlugin,ParallelismConfig}:
accelerate.parallelism_config.ParallelismConfig:
trl.trainer.sft_config.SFTConfig:
trl.trainer.dpo_config.DPOConfig:
trl.trainer.dpo_config.FDivergenceType: text
trl.trainer.grpo_config.GRPOConfig:
trl.trainer.kto_config.KTOConfig:
trl.trainer.ppov2_config.PPOv2Config:
trl.trainer.reward_config.RewardConfig:
sentence_transformers.training_args.SentenceTransformerTrainingArguments:
sentence_transformers.training_args.{BatchSamplers,MultiDatasetBatchSamplers}: text
"""


def _is_sizes(value: Any) -> bool:
    if isinstance(value, Made) and value.path == "torch.Size" and isinstance(value.arguments, tuple):
        value = value.arguments[0] if value.arguments else ()
    return isinstance(value, (tuple, list)) and all(isinstance(each, int) for each in value)


#: Text that NumPy reads as one numeric type; other text may be a record, evaluated field by field.
_NUMBERS = re.compile(
    r"[<>|=]?(?:[?bBhHiIuUlLqQpPefdgFDGSVMmc]|bool|u?int|float|complex|str|bytes|void)\d{0,9}(?:\[\w{1,9}\])?"
)
_CODECS = frozenset(("latin1", "latin-1", "iso-8859-1", "utf-8", "utf8", "ascii"))
_SCALARS = (int, float, str, bytes, type(None), Blob)


def _is_type(value: Any) -> bool:
    """What `numpy.dtype` accepts as a type: a code, or a numeric class of NumPy or Python."""
    if isinstance(value, Global):
        return value.path.startswith(("numpy.", "builtins.")) and known(value)
    return isinstance(value, str) and (value in ("O", "O8") or _NUMBERS.fullmatch(value) is not None)


def _is_simple(value: Any) -> bool:
    """Whether a NumPy type contains no objects."""
    if not (isinstance(value, Made) and value.path == "numpy.dtype" and isinstance(value.arguments, tuple)):
        return False
    first = value.arguments[0] if value.arguments else None
    return isinstance(first, str) and _NUMBERS.fullmatch(first) is not None


#: Kind → whether a value is of that kind.
_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "any": lambda _: True,
    "none": lambda value: value is None,
    "int": lambda value: isinstance(value, int),
    "bool": lambda value: isinstance(value, (bool, int)),
    "text": lambda value: isinstance(value, str),
    "bytes": lambda value: isinstance(value, (bytes, str)) or _is_call_of(value, "_codecs.encode"),
    "scalar": lambda value: isinstance(value, _SCALARS) or _is_call_of(value, "_codecs.encode"),
    "codec": lambda value: isinstance(value, str) and value.lower() in _CODECS,
    "tuple": lambda value: isinstance(value, tuple),
    "sizes": _is_sizes,
    "dict": lambda value: (
        value is None or isinstance(value, Dictionary) or _is_call_of(value, "collections.OrderedDict")
    ),
    "storage": lambda value: isinstance(value, Persistent) or (isinstance(value, Made) and "Storage" in value.path),
    "tensor": lambda value: isinstance(value, (Made, Persistent)),
    "name": lambda value: isinstance(value, Global) and known(value),
    "class": lambda value: isinstance(value, Global),
    "object": lambda value: isinstance(value, Global) and value.path == "builtins.object",
    "dtype": lambda value: isinstance(value, Global) and value.module == "torch" and known(value),
    "array": lambda value: isinstance(value, Global) and value.path == "numpy.ndarray",
    "type": _is_type,
    "simple": _is_simple,
}


def _is_call_of(value: Any, path: str) -> bool:
    return isinstance(value, Made) and value.path == path


@cache
def _signatures() -> Mapping[str, tuple[tuple[str, ...], ...] | None]:
    """Path → the ways to call it; None for names that are never called."""
    found: dict[str, tuple[tuple[str, ...], ...] | None] = {f"torch.{name}": None for name in _DTYPES.split()}
    for name in _STORAGES.split():
        found |= dict.fromkeys((f"torch.{name}Storage", f"torch.cuda.{name}Storage"), None)
    for name in _TENSORS.split():
        for place in ("torch", "torch.cuda", "torch.sparse", "torch.cuda.sparse"):
            found[f"{place}.{name}Tensor"] = None
    for line in _TABLE.strip().splitlines():
        path, _, ways = line.partition(":")
        called = ways.strip() != "-"
        signature = tuple(tuple(way.split()) for way in ways.split("|")) if called else None
        found |= dict.fromkeys(_expanded(path), signature)
    return found


def _expanded(path: str) -> list[str]:
    """`numpy.{float32,float64}` → both names."""
    before, _, rest = path.partition("{")
    words, _, after = rest.partition("}")
    return [before + word + end for word in words.split(",") for end in _expanded(after)] if rest else [path]


#: Classes of Transformers' models, for `torch.save(model)`: made without a call. None of the 9,097 of 5.24.0 has code
#: of its own for that (`__new__` is Python's, `__setstate__` PyTorch's).
_OF_MODELS = re.compile(r"transformers\.models\.\w+\.(?:modeling|configuration)_\w+\.[A-Z]\w*")


def _ways(what: Global) -> tuple[tuple[str, ...], ...] | None:
    return _signatures().get(what.path, ((),) if _OF_MODELS.fullmatch(what.path) else None)


def known(what: Global) -> bool:
    """Whether a name is in the table."""
    return what.path in _signatures() or _OF_MODELS.fullmatch(what.path) is not None


def fits(what: Global, arguments: Any) -> bool:
    """Whether a name is in the table, and these arguments are of the kinds that it takes."""
    ways = _ways(what)
    return ways is not None and isinstance(arguments, tuple) and any(_matches(way, arguments) for way in ways)


def is_no_text(value: Any) -> bool:
    """Whether a value is certainly not text: a container, a name in the table, or what one makes without arguments."""
    what = value.what if isinstance(value, Made) else value
    if not isinstance(what, Global):
        return isinstance(what, tuple | list | Dictionary) and what is value
    if what.path not in _signatures():
        return False
    return not isinstance(value, Made) or (value.arguments == () and value.named is None and fits(what, ()))


def _matches(way: tuple[str, ...], arguments: tuple[Any, ...]) -> bool:
    at = 0
    for word in way:
        kind = _KINDS[word.rstrip("?*")]
        if word.endswith("*"):
            return all(kind(each) for each in arguments[at:])
        if at < len(arguments):
            if not kind(arguments[at]):
                return False
            at += 1
        elif not word.endswith("?"):
            return False
    return at == len(arguments)


def attribute(what: Any, arguments: Any) -> Global | None:
    """A nested class, as `getattr(outer, "inner")` names it, if it is in the table; None for anything else."""
    if not isinstance(what, Global) or what.path != "builtins.getattr" or not isinstance(arguments, tuple):
        return None
    match arguments:
        case (Global() as outer, str(inner)) if inner.isidentifier():
            found = Global(outer.module, f"{outer.name}.{inner}")
            return found if known(outer) and known(found) else None
    return None


def calls(what: Global, arguments: Any) -> tuple[Any, Any] | None:
    """What a known constructor calls in turn, with its arguments; None if it calls none of its arguments."""
    if not isinstance(arguments, tuple):
        return None
    if what.path.startswith("torch._tensor._rebuild_from_type") and len(arguments) >= 3:
        return arguments[0], arguments[2]
    if what.path == "copyreg._reconstructor" and arguments:
        return arguments[0], ()
    if what.path == "copyreg.__newobj__" and arguments:
        return arguments[0], arguments[1:]
    return None
