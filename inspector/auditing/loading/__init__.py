"""Loading: would Transformers, PEFT, Diffusers, sentence-transformers and llama.cpp take it?"""
