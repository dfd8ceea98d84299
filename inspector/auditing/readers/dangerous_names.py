"""What a name resolved by an unpickler can do: known constructors are harmless; others are rated by their origin.

No list of dangerous names is ever complete, so anything not known to be harmless is reported; the tables here determine
the severity. Python's library runs programs, opens files and uses the network in hundreds of places: all of it is an
error except for modules of plain values.
"""

from __future__ import annotations

import re
import sys
from typing import Literal

from inspector.formats.pytorch.values import Reached

Danger = Literal["error", "warning"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Modules of Python's library that exist in older or newer releases but perhaps not in this one.
_OTHER_RELEASES = _words(
    """
    __builtin__ __builtins__ __main__ asynchat asyncore binhex cgi cgitb chunk commands compiler crypt distutils
    dummy_thread dummy_threading formatter ftplib httplib imghdr imp lib2to3 macpath macurl2path mailcap msilib nis
    nntplib nt ntpath ossaudiodev parser pipes popen2 posix posixfile pyexpat sndhdr smtpd spwd sunau symbol
    telnetlib test tkinter idlelib turtledemo urllib2 uu winreg _winapi xdrlib xmlrpclib _osx_support _aix_support
    _pyrepl _winreg _xxsubinterpreters _interpreters _posixsubprocess _frozen_importlib _frozen_importlib_external
    """
) - {"__main__"}
STANDARD = frozenset(sys.stdlib_module_names) | _OTHER_RELEASES
#: Modules with plain values only: an unknown class from them is merely unusual.
_PLAIN = _words(
    """
    array bisect calendar cmath collections copy datetime decimal enum fractions graphlib heapq ipaddress itertools
    math numbers pathlib random re statistics string struct time zoneinfo argparse
    """
)
#: Packages, and modules of packages, that can run, fetch or build any program, or turn off a scanner.
_RUNNING = _words(
    """
    aiohttp boto3 cffi cloudpickle dill docker fabric fsspec git httpx invoke ipykernel IPython jinja2 joblib
    jsonpickle llvmlite mako numba numexpr paramiko pexpect pip pkg_resources plumbum psutil ptyprocess pyarrow.fs
    pycurl ray requests s3fs selenium setuptools sh smart_open sqlalchemy tornado triton twisted urllib3 virtualenv
    websocket wheel yaml pickle5 hickle six.moves past future.standard_library pymysql psycopg2 redis pyspark dask
    distributed numpy.f2py numpy.distutils numpy.testing numpy.ctypeslib numpy.lib.npyio numpy.lib.utils
    numpy.compat numpy.lib._npyio_impl numpy.load numpy.save numpy.fromfile numpy.memmap numpy.core.memmap
    numpy.DataSource numpy.lib._datasource numpy.savez numpy.genfromtxt numpy.loadtxt pandas.io pandas.eval
    pandas.core.computation pandas.read_pickle pandas.read_csv scipy.io scipy.weave torch.hub torch.jit
    torch.package torch._dynamo torch._inductor torch.fx torch.compile torch.load torch.save torch.ops torch.classes
    torch.utils.cpp_extension torch.utils.bottleneck torch.utils.collect_env torch.utils.data.datapipes
    torch.utils._config_module torch.utils.benchmark torch.utils.model_zoo torch.utils.show_pickle
    torch.utils.tensorboard torch.serialization.load torch.distributed.rpc torch.distributed.run
    torch.distributed.elastic torch.distributed.launch torch.multiprocessing torch.testing torch.onnx torch.export
    torch._export torch._library torch.library torch._package torch.cuda._gpu_trace torch.serialization.save
    torch._C._jit torch.backends torch.fb transformers.utils transformers.dynamic_module_utils
    transformers.pipelines transformers.commands transformers.agents transformers.tools huggingface_hub datasets
    accelerate.commands keras.utils keras.saving keras.src.saving keras.src.utils keras.models keras.layers.Lambda
    tensorflow.keras tensorflow.io tensorflow.load_library tensorflow.load_op_library tensorflow.python.platform
    gradio streamlit flask uvicorn sklearn.utils._joblib sklearn.externals shap xmlrpc onnxruntime openvino tensorrt
    fickling picklescan modelscan modelaudit saferpickle model_unpickler
    """
)
#: Packages whose classes occur in checkpoints; a call of an unknown function in them may do anything.
_FRAMEWORKS = _words(
    "torch torchvision torchaudio numpy transformers diffusers accelerate peft keras tensorflow jax flax tf_keras"
)
#: Last components of names that run, fetch, open or look up something, whichever module they are in.
_ACTING = _words(
    """
    system popen popen2 popen3 popen4 exec execfile eval compile open load loads load_module import_module run call
    check_call check_output Popen spawn getattr setattr delattr getattribute __import__ __getattribute__ __getattr__
    __globals__ __builtins__ __subclasses__ __class__ __bases__ __mro__ __dict__ __code__ __call__ __reduce__
    __init__ import_string import_from_string locate resolve resolve_name runcode runsource interact fromstring
    urlopen urlretrieve download read_pickle from_pretrained unpickle shell sh bash cmd startfile run_code
    run_module run_path runstring execWrapper attrgetter itemgetter methodcaller partial FileIO FileHandler CodeType
    FunctionType _import_dotted_name _load_from_bytes import_dotted_name string_to_object instantiate
    """
)
#: Words of functions that run something, in packages of which nothing else is known: mlflow's `_run_entry_point`.
_ACTING_WORDS = _words(
    """
    run exec execute eval evaluate shell bash cmd command commands spawn popen system subprocess launch script process
    call invoke import load open download fetch install compile edit pipe dispatch
    """
)
#: Parts of names of classes that run a program when they are made: Airflow's `BashOperator`, paramiko's `ProxyCommand`.
_PROGRAMS = ("Shell", "Bash", "Command", "Subprocess", "SubProcess", "Popen", "ExternalProgram", "Executor")
#: Functions that recreate compiled classes: as harmless as the class.
_REBUILDING = ("__pyx_unpickle_", "_unpickle_", "_rebuild_", "_reconstruct", "_make_")


def danger(reached: Reached) -> Danger | None:
    """How severe it is that an unpickler resolves a name; None for a known constructor's usual call."""
    if reached.use == "change" or not reached.module:
        return "error"
    if reached.known:
        return None
    parts = reached.path.split(".")
    if _acts(reached, parts) or _is_running(parts):
        return "error"
    last = parts[-1].lstrip("_")
    is_function = last[:1].islower()
    if parts[0] in STANDARD:
        soft = parts[0] in _PLAIN or (parts[0] in ("builtins", "copyreg", "_codecs") and not is_function)
        return "warning" if soft or _is_misused(reached) else "error"
    rebuilds = parts[-1].startswith(_REBUILDING)
    called = is_function and reached.use == "call" and not rebuilds and not _is_misused(reached)
    acting = not _ACTING_WORDS.isdisjoint(last.lower().split("_"))
    programs = any(word in parts[-1] for word in _PROGRAMS)
    return "error" if programs or (called and (acting or parts[0] in _FRAMEWORKS)) else "warning"


def _acts(reached: Reached, parts: list[str]) -> bool:
    """Whether the name itself shows that it acts: it ends in a word for an action, or goes through another module."""
    words = reached.name.split(".")
    through = len(words) > 1 and (words[-1][:1].islower() or not _ACTING.isdisjoint(words) or words[0] in STANDARD)
    return through or parts[-1] in _ACTING


def _is_running(parts: list[str]) -> bool:
    return any(".".join(parts[:length]) in _RUNNING for length in range(1, len(parts) + 1))


def runs(path: str) -> bool:
    """Whether a dotted name belongs to Python's library, or to a package that can run any program."""
    parts = path.split(".")
    return parts[0] in STANDARD or _is_running(parts)


def is_known_to_act(reached: Reached) -> bool:
    """Whether the name runs, fetches or opens something, in a module that can do so: too specific to be chance."""
    return reached.name in _ACTING and runs(reached.module)


def _is_misused(reached: Reached) -> bool:
    """Whether it is a known constructor, though called in an unusual way: that cannot be exploited."""
    from inspector.formats.pytorch import constructors
    from inspector.formats.pytorch.values import Global

    return constructors.known(Global(reached.module, reached.name))


_IMPORTABLE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def importable(reached: Reached) -> bool:
    """Whether Python could import or create such a name: random bytes rarely spell one."""
    whole = _IMPORTABLE.fullmatch(reached.module) and _IMPORTABLE.fullmatch(reached.name)
    return not reached.module or whole is not None
