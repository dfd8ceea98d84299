import pickle,sys
d=pickle.loads(open(sys.argv[1],'rb').read())
f=d['family']
print(f.name,f.prefix,f.prefixes,f.classes,f.head); print(f.defaults,f.derived,f.fields)
for r in f.rows:
    print({k:v for k in r.__dataclass_fields__ if (v:=getattr(r,k)) not in ("",False,{})and not(k=='leaf' and v=='weight') and not(k=='tower' and v=='text')})
print(d['missed'])
