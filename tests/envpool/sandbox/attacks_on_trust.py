"""Attacks on what others believe: patched modules, walked frames, secrets and later inputs, and plain lies.

Nothing stops a program from changing its own process, and nothing needs to: what it can reach there is its own source
and the call it is in. What comes out is read strictly; whether it is true, the gates of admission ask.
"""

from attack import BOUNDARY, CODE, CRASH, ILLEGAL, ITSELF, NOTHING, PROTOCOL, SUPERVISOR, ZYGOTE, attack

PATCHES = [
    attack("a patched encoder", BOUNDARY, PROTOCOL, """
        sys.modules['json'].JSONEncoder.encode = lambda *a: '[[['
        return 1
    """),
    attack("a patched check", BOUNDARY, PROTOCOL, """
        sys.modules['envpool.sandbox.inside.program'].to_wire = lambda value: {'t': 'no list'}
        return 1
    """),
    attack("a patched check that lets a float through", BOUNDARY, PROTOCOL, """
        inside = sys.modules['envpool.sandbox.inside.program']
        inside.to_wire = lambda value: value
        for name in ('check', 'check_type'):
            if hasattr(inside, name): setattr(inside, name, lambda *a: None)
        return 1.5
    """),
    attack("a patched score", BOUNDARY, PROTOCOL, """
        class Lie:
            def __new__(cls, score): return 2.0
        sys.modules['envpool.sandbox.inside.program'].float = Lie
        return 1
    """, method="verify"),
    attack("patched builtins", BOUNDARY, PROTOCOL + CODE + ILLEGAL + CRASH, """
        import builtins
        builtins.isinstance = lambda *a: True
        builtins.type = lambda *a: int
        builtins.len = lambda *a: 0
        return [1.5]
    """),
    attack("a patched write", BOUNDARY, PROTOCOL, """
        real = os.write
        os.write = lambda fd, data: real(fd, bytes(len(data))) and len(data)
        return 1
    """),
    attack("a patched read", SUPERVISOR, NOTHING, "os.read = lambda *a: b''; return 1", expect=1),
    attack("a trace on every line", ITSELF, NOTHING, """
        sys.settrace(lambda *a: None)
        sys.setprofile(lambda *a: None)
        sys.addaudithook(lambda *a: None)
        return 1
    """, expect=1),
    attack("an emptied table of modules", SUPERVISOR, CODE + PROTOCOL, """
        for name in list(sys.modules): sys.modules[name] = None
        import json
        return 1
    """),
    attack("its own module replaced", ITSELF, NOTHING, "sys.modules['program'] = None; return 1", expect=1),
]  # fmt: skip

SECRETS = [
    attack("walking the frames", ZYGOTE, NOTHING, """
        frame, seen = sys._getframe(), []
        while frame:
            seen.append(repr(sorted(frame.f_locals)) + repr(sorted(frame.f_globals)))
            frame = frame.f_back
        return int('TOKEN' in repr(seen) or 'SECRET' in repr(seen))
    """, expect=0),
    attack("the environment", ZYGOTE, NOTHING, """
        environ = ctypes.c_void_p.in_dll(libc, 'environ').value
        entries, at = [], environ
        while address := ctypes.c_void_p.from_address(at).value:
            entries.append(ctypes.string_at(address).decode())
            at += 8
        return sorted(entry.partition('=')[0] for entry in entries)
    """, codomain="list[str]", expect=[
        "HOME", "LANG", "LC_ALL", "MALLOC_ARENA_MAX", "PATH", "PYTHONHASHSEED", "PYTHONUTF8", "TZ",
    ]),
    attack("every object that the collector knows", ZYGOTE, NOTHING, """
        gc = sys.modules['gc']
        gc.unfreeze()
        texts = [repr(thing) for thing in gc.get_objects() if type(thing) in (dict, list, tuple) and len(thing) < 40]
        return int(any('KEY_OF_THE_OWNER' in text and '(text' not in text for text in texts if 'texts' not in text))
    """, expect=0),
    attack("the heap read raw", ZYGOTE, NOTHING, """
        start = id(object()) & ~4095
        heap = ctypes.string_at(start, 65536)
        return int(('OWNER_OF_' + 'THE_KEY=').encode() in heap)
    """, expect=0),
    attack("the words it was started with", ZYGOTE, NOTHING, "return len([a for a in sys.orig_argv if 'token' in a])",
           expect=0),
    attack("all that can be read from any descriptor but its input", ZYGOTE, NOTHING, """
        held = b''
        for fd in (0, 1, 2, *range(4, 1024)):
            try: held += os.read(fd, 4096)
            except OSError: pass
        return len(held)
    """, expect=0),
    attack("the next input in its buffer", SUPERVISOR, NOTHING, """
        frame = sys._getframe()
        while 'requests' not in frame.f_locals: frame = frame.f_back
        held = frame.f_locals['requests']
        names = getattr(type(held), '__slots__', None) or list(vars(held))
        return sum(len(value) for name in names if isinstance(value := getattr(held, name), (bytes, bytearray)))
    """, expect=0),
    attack("who else is on the machine", ITSELF, NOTHING, "return int(os.uname().sysname == 'Linux')", expect=1),
]  # fmt: skip

LIES = [
    attack("an answer by the clock", ITSELF, NOTHING, "return sys.modules['time'].monotonic_ns() % 1000", found="L3"),
    attack("an answer by the hash seed", ITSELF, NOTHING, "return hash('x') % 1000", found="scan"),
    attack("an answer by an address", ITSELF, NOTHING, "return id(object()) % 9973", found="scan"),
    attack("an answer by the random device", ITSELF, NOTHING, "return os.urandom(1)[0]", found="L3"),
    attack("an answer by the process", ITSELF, NOTHING, "return os.getpid() % 997", found="L3"),
    attack("an answer by how often it was asked", ITSELF, NOTHING, """
        Subject.asked = getattr(Subject, 'asked', 0) + 1
        return Subject.asked
    """, found="scan"),
    attack("an answer by how often it was asked, kept where no scan looks", ITSELF, NOTHING, """
        sys.asked = getattr(sys, 'asked', 0) + 1
        return sys.asked
    """, found="L3"),
    attack("an answer that is always the same", ITSELF, NOTHING, "return 7", expect=7, found="L4"),
    attack("an oracle that every answer pleases", ITSELF, NOTHING, "return 1.0", method="verify", expect=1.0,
           found="L5"),
    attack("an oracle that no answer pleases", ITSELF, NOTHING, "return 0.0", method="verify", expect=0.0, found="L5"),
    attack("a harness taught to say 1.0", ITSELF, NOTHING, """
        class Lie:
            def __new__(cls, score): return 1.0
        sys.modules['envpool.sandbox.inside.program'].float = Lie
        return 0
    """, method="verify", expect=1.0, found="L5"),
]  # fmt: skip
