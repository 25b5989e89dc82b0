"""Attacks on the boundary: floods, forged and half replies, ends of the process, values that are not what they seem."""

from attack import (
    BOUNDARY,
    CODE,
    CPU,
    CRASH,
    ILLEGAL,
    ITSELF,
    NOTHING,
    OUTPUT,
    PROTOCOL,
    PYTHON,
    SUPERVISOR,
    ZYGOTE,
    attack,
    refused,
)

OWN_NUMBER = """
        frame = sys._getframe()
        while "identity" not in frame.f_locals: frame = frame.f_back
        number = frame.f_locals["identity"]
"""
"""How a program finds the number of the call it is in, which a reply must carry."""

CHANNEL = [
    attack("a flood of its channel", SUPERVISOR, OUTPUT + PROTOCOL, "while True: os.write(4, b'x' * 65536)"),
    attack("a flood of standard output and error", ZYGOTE, NOTHING, """
        for fd in (1, 2): os.write(fd, b'x' * 100_000)
        return 1
    """, expect=1),
    attack("a flood of every descriptor", SUPERVISOR, OUTPUT + PROTOCOL, """
        while True:
            for fd in range(1024):
                try: os.write(fd, b'x' * 4096)
                except OSError: pass
    """),
    attack("a flood through print", ZYGOTE, NOTHING, "print('x' * 1_000_000); return 1", expect=1),
    attack("a drip that never becomes a frame", SUPERVISOR, CPU, """
        os.write(4, b'\\0\\0\\0\\x40')
        while True: pass
    """),
    attack("a reply that dribbles without a pause", SUPERVISOR, CPU, """
        os.write(4, (60_000).to_bytes(4, 'big'))
        while True:
            os.write(4, b' ')
            for _ in range(5_000): pass
    """),
    attack("a result too large", BOUNDARY, ILLEGAL + OUTPUT, "return ['x' * 9000] * 30", codomain="list[str]"),
    attack("a legal value with a frame too large", SUPERVISOR, OUTPUT, "return ['\\u00e9' * 19_000]",
           codomain="list[str]"),
    attack("half a frame, then the end", SUPERVISOR, CRASH, "os.write(4, b'\\0\\0'); os._exit(0)"),
    attack("a header and half a body, then the end", SUPERVISOR, CRASH, """
        os.write(4, b'\\0\\0\\0\\x20[1,"va')
        os._exit(0)
    """),
    attack("a frame that promises four GiB", SUPERVISOR, OUTPUT, "os.write(4, b'\\xff' * 4); return 1"),
    attack("an empty frame", BOUNDARY, PROTOCOL, "os.write(4, b'\\0\\0\\0\\0'); return 1"),
    attack("a frame of garbage", BOUNDARY, PROTOCOL, "os.write(4, b'\\0\\0\\0\\5hello'); return 1"),
    attack("a frame of nested brackets", BOUNDARY, PROTOCOL, """
        body = b'[' * 30_000 + b']' * 30_000
        os.write(4, len(body).to_bytes(4, 'big') + body)
        return 1
    """),
    attack("a forged reply to another call", BOUNDARY, PROTOCOL, """
        os.write(4, b'\\0\\0\\0\\x0d[1,"value",7]')
        return 1
    """),
    attack("a forged verdict of the supervisor's own", BOUNDARY, PROTOCOL, OWN_NUMBER + """
        body = ('[%d,"infra","the machine failed"]' % number).encode()
        os.write(4, len(body).to_bytes(4, 'big') + body)
        os._exit(0)
    """),
    attack("two replies to one call", SUPERVISOR, PROTOCOL, OWN_NUMBER + """
        body = ('[%d,"value",7]' % number).encode()
        os.write(4, (len(body).to_bytes(4, 'big') + body) * 2)
        os._exit(0)
    """),
    attack("a forged NaN", BOUNDARY, PROTOCOL, OWN_NUMBER + """
        body = ('[%d,"value",NaN]' % number).encode()
        os.write(4, len(body).to_bytes(4, 'big') + body)
        os._exit(0)
    """),
    attack("a forged score of ten", BOUNDARY, PROTOCOL, OWN_NUMBER + """
        body = ('[%d,"value",10.0]' % number).encode()
        os.write(4, len(body).to_bytes(4, 'big') + body)
        os._exit(0)
    """, method="verify"),
    attack("a forged float that overflows", BOUNDARY, PROTOCOL, OWN_NUMBER + """
        body = ('[%d,"value",1e999]' % number).encode()
        os.write(4, len(body).to_bytes(4, 'big') + body)
        os._exit(0)
    """, method="verify"),
    attack("a forged integer of 5,000 digits", BOUNDARY, PROTOCOL, OWN_NUMBER + """
        body = ('[%d,"value",%s]' % (number, '9' * 5000)).encode()
        os.write(4, len(body).to_bytes(4, 'big') + body)
        os._exit(0)
    """),
    attack("a forged lone surrogate", BOUNDARY, PROTOCOL, OWN_NUMBER + """
        body = ('[%d,"value","\\\\ud800"]' % number).encode()
        os.write(4, len(body).to_bytes(4, 'big') + body)
        os._exit(0)
    """, codomain="str"),
    attack("a forged reply to its own call", ITSELF, NOTHING, OWN_NUMBER + """
        body = ('[%d,"value",1.0]' % number).encode()
        os.write(4, len(body).to_bytes(4, 'big') + body)
        os._exit(0)
    """, method="verify", expect=1.0, found="scan"),
    attack("closing its channel and going on", SUPERVISOR, PROTOCOL, """
        os.close(4)
        while True: pass
    """),
    attack("closing every descriptor", SUPERVISOR, CRASH, "os.closerange(0, 1024); return 1"),
    attack("leaving with status 0", SUPERVISOR, CRASH, "os._exit(0)"),
    attack("leaving while it loads", SUPERVISOR, CRASH, "return 1", top="os._exit(0)"),
    attack("leaving by SystemExit", PYTHON, CODE, "raise SystemExit(0)"),
    attack("leaving by an interrupt", PYTHON, CODE, "raise KeyboardInterrupt"),
    attack("leaving through libc", SUPERVISOR, CRASH, "libc.exit(0)"),
    attack("an end prepared with atexit", ITSELF, NOTHING, """
        sys.modules['atexit'].register(os._exit, 3) if 'atexit' in sys.modules else None
        return 1
    """, expect=1),
    attack("a null pointer", SUPERVISOR, CRASH, "ctypes.string_at(0)"),
    attack("an abort", SUPERVISOR, CRASH, "os.abort()"),
    attack("freeing what is not allocated", SUPERVISOR, CRASH, "libc.free(ctypes.c_void_p(id(os) + 3)); os.abort()"),
    attack("a broken interpreter", SUPERVISOR, CRASH, """
        for at in range(0, 1 << 20, 8): ctypes.c_long.from_address(id(type) + at).value = -1
        return 1
    """),
    attack("a crash with its signal ignored", SUPERVISOR, CRASH, """
        libc.signal(11, ctypes.c_void_p(1))
        ctypes.string_at(0)
        return 1
    """),
    attack("a crash with Python as the handler", SUPERVISOR, CPU, """
        sys.modules["signal"].signal(11, lambda *a: None)
        ctypes.string_at(0)
        return 1
    """),
    refused("duplicating its channel", "call('dup', 4)"),
    refused("duplicating it by another name", "libc.fcntl(4, 0, 0)"),
    refused("a longer pipe", "libc.fcntl(4, 1031, 1 << 20)"),
    refused("a channel that does not block", "libc.fcntl(4, 4, 2048)"),
    refused("asking to be told of input", "libc.fcntl(3, 8, os.getpid())", harmless=False),
    refused("how much waits in its input", "libc.ioctl(3, 0x541B, ctypes.create_string_buffer(8))"),
    refused("putting words into a terminal", "libc.ioctl(0, 0x5412, b'x')", harmless=False),
    attack("writing to its input", ZYGOTE, CODE, "os.write(3, b'x'); return 1"),
]  # fmt: skip

VALUES = [
    attack("a subclass of int", BOUNDARY, ILLEGAL, """
        class Sly(int):
            def __eq__(self, other): return True
            __hash__ = int.__hash__
        return Sly(3)
    """),
    attack("a subclass of str", BOUNDARY, ILLEGAL, """
        class Sly(str):
            def __len__(self): return 0
            def encode(self, *a): return b''
        return Sly('x')
    """, codomain="str"),
    attack("a subclass of list", BOUNDARY, ILLEGAL, """
        class Sly(list):
            def __iter__(self): return iter(())
        return Sly([1])
    """, codomain="list[int]"),
    attack("a subclass of dict", BOUNDARY, ILLEGAL, """
        class Sly(dict):
            def items(self): return iter(int, 1)
        return Sly({1: 1})
    """, codomain="dict[int, int]"),
    attack("a named tuple", BOUNDARY, ILLEGAL, """
        import collections
        return collections.namedtuple('Pair', 'a b')(1, 2)
    """, codomain="tuple[int, int]"),
    attack("an enumeration of integers", BOUNDARY, ILLEGAL, "import enum; return enum.IntEnum('E', 'A').A"),
    attack("an object that claims to be an int", BOUNDARY, ILLEGAL, """
        class Sly:
            __class__ = int
            def __reduce__(self): return (os.system, ('true',))
        return Sly()
    """),
    attack("an object that is equal to all and pickles into a call", BOUNDARY, ILLEGAL, """
        class Sly:
            def __eq__(self, other): return True
            def __reduce_ex__(self, protocol): return (os._exit, (0,))
            def __float__(self): return 1.0
            def __index__(self): return 1
        return Sly()
    """, method="verify"),
    attack("a metaclass that answers for its class", BOUNDARY, ILLEGAL, """
        class Meta(type):
            def __instancecheck__(cls, other): return True
            def __eq__(cls, other): return other is int
            __hash__ = type.__hash__
        class Sly(metaclass=Meta): pass
        return Sly()
    """),
    attack("nothing", BOUNDARY, ILLEGAL, "return None"),
    attack("a float where an int belongs", BOUNDARY, ILLEGAL, "return 1.0"),
    attack("a bool where an int belongs", BOUNDARY, ILLEGAL, "return True"),
    attack("bytes where a text belongs", BOUNDARY, ILLEGAL, "return b'x'", codomain="str"),
    attack("a set where a list belongs", BOUNDARY, ILLEGAL, "return {1}", codomain="list[int]"),
    attack("a generator that never ends", BOUNDARY, ILLEGAL, "return iter(int, 1)", codomain="list[int]"),
    attack("an integer of 5,000 digits", BOUNDARY, ILLEGAL, "return 10 ** 5000"),
    attack("a list of 100,000", BOUNDARY, ILLEGAL, "return [1] * 100_000", codomain="list[int]"),
    attack("a list 100,000 deep", BOUNDARY, ILLEGAL, """
        deep = []
        for _ in range(100_000): deep = [deep]
        return deep
    """, codomain="list[int]"),
    attack("a list that holds itself", BOUNDARY, ILLEGAL, """
        loop = []
        loop.append(loop)
        return loop
    """, codomain="list[int]"),
    attack("a list that grows by being looked at", BOUNDARY, ILLEGAL, """
        rows = [[1]]
        for _ in range(40): rows = [rows, rows]
        return rows
    """, codomain="list[list[int]]"),
    attack("a lone surrogate", BOUNDARY, ILLEGAL, "return '\\ud800'", codomain="str"),
    attack("a key that is a lone surrogate", BOUNDARY, ILLEGAL, "return {'\\ud800': 1}", codomain="dict[str, int]"),
    attack("two keys that are equal and not the same", BOUNDARY, ILLEGAL, "return {True: 1}",
           codomain="dict[int, int]"),
    attack("a score that is no number", BOUNDARY, ILLEGAL, "return float('nan')", method="verify"),
    attack("an infinite score", BOUNDARY, ILLEGAL, "return float('inf')", method="verify"),
    attack("a score that overflows", BOUNDARY, ILLEGAL, "return 10 ** 400", method="verify"),
    attack("a score of a float that overflows", BOUNDARY, ILLEGAL, "return 1e308 * 10", method="verify"),
    attack("a score beside the truth", BOUNDARY, ILLEGAL, "return 1.5", method="verify"),
    attack("a complex score", BOUNDARY, ILLEGAL, "return 1 + 0j", method="verify"),
    attack("a score that is a fraction", BOUNDARY, ILLEGAL, "import fractions; return fractions.Fraction(1, 2)",
           method="verify"),
    attack("an exception that cannot be shown", PYTHON, CODE, """
        class Bad(Exception):
            def __str__(self): raise self
        raise Bad()
    """),
    attack("an exception with a lone surrogate", BOUNDARY, CODE, "raise ValueError('\\ud800')"),
    attack("an exception of a megabyte", BOUNDARY, CODE, "raise ValueError('x' * (1 << 20))"),
    attack("an exception that carries a verdict", BOUNDARY, CODE, "raise ValueError('\\n[0,\"value\",1]\\n')"),
    attack("a stop of iteration", PYTHON, CODE, "raise StopIteration(1)"),
    attack("a group of exceptions", PYTHON, CODE, """
        group = ValueError()
        for _ in range(500): group = ExceptionGroup('x', [group])
        raise group
    """),
]  # fmt: skip
