"""The standard library as the guard sees it: what is free, what is free in part, and what each other part does."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from runtime.guard.violations import Rule

FREE = frozenset(
    [
        "__future__",
        "abc",
        "argparse",
        "array",
        "ast",
        "base64",
        "binascii",
        "bisect",
        "calendar",
        "cmath",
        "collections",
        "colorsys",
        "concurrent",
        "configparser",
        "contextlib",
        "contextvars",
        "copy",
        "csv",
        "dataclasses",
        "datetime",
        "decimal",
        "difflib",
        "email",
        "enum",
        "errno",
        "fnmatch",
        "fractions",
        "functools",
        "graphlib",
        "gzip",
        "bz2",
        "lzma",
        "zipfile",
        "tarfile",
        "hashlib",
        "heapq",
        "hmac",
        "html",
        "ipaddress",
        "itertools",
        "json",
        "keyword",
        "locale",
        "math",
        "mimetypes",
        "numbers",
        "operator",
        "pprint",
        "queue",
        "random",
        "re",
        "reprlib",
        "sched",
        "secrets",
        "shlex",
        "stat",
        "statistics",
        "string",
        "stringprep",
        "struct",
        "textwrap",
        "time",
        "token",
        "tokenize",
        "tomllib",
        "traceback",
        "typing",
        "unicodedata",
        "urllib",
        "uuid",
        "warnings",
        "wave",
        "weakref",
        "xml",
        "zlib",
        "zoneinfo",
        "quopri",
        "plistlib",
        "codecs",
        "platform",
        "getopt",
        "nturl2path",
        "sqlite3",
        "http",
        "logging",
        "threading",
        "pathlib",
        "asyncio",
        "glob",
    ]
)
"""Modules of which everything may be used but what the tables below name."""

_PARTS: Mapping[str, tuple[Rule, str]] = MappingProxyType(
    {
        "os": (
            "tampering",
            """
                path sep linesep pathsep extsep altsep curdir pardir name fspath PathLike urandom
                cpu_count strerror error getpid getcwd devnull SEEK_SET SEEK_END SEEK_CUR
                get_terminal_size fsencode fsdecode
            """,
        ),
        "os.path": (
            "files",
            """
                join basename dirname splitext split splitdrive normpath normcase isabs commonpath
                commonprefix relpath abspath realpath sep altsep extsep pardir curdir pathsep
            """,
        ),
        "sys": (
            "tampering",
            """
                version version_info platform maxsize maxunicode byteorder float_info int_info
                hash_info implementation hexversion getsizeof intern exc_info getrecursionlimit
                getdefaultencoding api_version copyright getfilesystemencoding stdlib_module_names
            """,
        ),
        "io": (
            "files",
            """
                BytesIO StringIO TextIOWrapper TextIOBase BufferedReader BufferedWriter IOBase
                RawIOBase BufferedIOBase SEEK_SET SEEK_CUR SEEK_END UnsupportedOperation
                DEFAULT_BUFFER_SIZE
            """,
        ),
        "tempfile": (
            "files",
            """
                TemporaryDirectory NamedTemporaryFile TemporaryFile SpooledTemporaryFile mkdtemp
                mkstemp gettempdir gettempprefix gettempdirb mktemp
            """,
        ),
        "shutil": ("files", "copyfileobj get_terminal_size Error SameFileError"),
        "inspect": (
            "escape",
            """
                signature iscoroutinefunction isawaitable iscoroutine isgenerator
                isgeneratorfunction isasyncgenfunction isasyncgen isclass isfunction ismethod
                isbuiltin isabstract isroutine ismodule getdoc cleandoc Parameter Signature
                BoundArguments isdatadescriptor
            """,
        ),
        "types": (
            "escape",
            """
                SimpleNamespace MappingProxyType NoneType UnionType GenericAlias MethodType
                TracebackType new_class prepare_class DynamicClassAttribute EllipsisType
                NotImplementedType resolve_bases
            """,
        ),
        "importlib": ("dynamic_code", "import_module"),
        "importlib.metadata": ("files", "version metadata PackageNotFoundError packages_distributions requires"),
        "importlib.util": ("dynamic_code", "find_spec"),
        "ssl": (
            "sockets",
            """
                create_default_context SSLContext SSLError CERT_NONE CERT_REQUIRED CERT_OPTIONAL
                PROTOCOL_TLS_CLIENT PROTOCOL_TLS TLSVersion Purpose SSLCertVerificationError
                OPENSSL_VERSION VerifyMode Options OP_NO_SSLv3 OP_NO_SSLv2 OP_NO_TLSv1 OP_NO_TLSv1_1
                HAS_SNI
            """,
        ),
        "timeit": ("dynamic_code", "default_timer"),
        "http": ("sockets", "HTTPStatus HTTPMethod client cookies"),
        "logging.handlers": ("files", "MemoryHandler QueueHandler"),
        "getpass": ("secrets", ""),
        "select": ("sockets", "error"),
        "gettext": ("files", "gettext ngettext NullTranslations"),
        "socket": ("sockets", "timeout error gaierror herror inet_aton inet_ntoa inet_pton inet_ntop AF_INET AF_INET6"),
    }
)
"""Modules of which only the names given may be used, with the rule that the rest breaks."""

_DOES: Mapping[Rule, str] = MappingProxyType(
    {
        "secrets": """
            os.environ os.environb os.getenv os.getenvb os.putenv os.unsetenv os.path.expandvars
            os.path.expanduser os.getlogin os.get_exec_path pwd spwd grp netrc urllib.request.getproxies
            urllib.request.proxy_bypass urllib.request.getproxies_environment sysconfig os.confstr site
            pathlib.Path.home pathlib.Path.expanduser
        """,
        "process": """
            subprocess multiprocessing pty os.system os.popen os.fork os.forkpty os.kill os.killpg
            os.abort os._exit os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp
            os.execvpe os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp
            os.spawnvpe os.posix_spawn os.posix_spawnp os.startfile os.wait os.waitpid os.wait3 os.wait4
            os.nice os.setsid os.setuid os.setgid os.setpgid os.register_at_fork os.pidfd_open
            os.sched_setaffinity os.openpty concurrent.futures.ProcessPoolExecutor
            concurrent.futures.process asyncio.create_subprocess_exec asyncio.create_subprocess_shell
            asyncio.subprocess webbrowser antigravity popen2 commands signal sys.exit @exit @quit
            resource asyncio.unix_events asyncio.base_subprocess shutil.which venv ensurepip @help
            idlelib tkinter turtle
        """,
        "dynamic_code": """
            @eval @exec @compile @__import__ @breakpoint code codeop runpy pdb bdb doctest profile
            cProfile trace timeit.timeit timeit.repeat timeit.Timer imp zipimport modulefinder pkgutil
            py_compile compileall symtable typing.get_type_hints typing.ForwardRef logging.config
            sys.setprofile sys.settrace inspect.get_annotations zipapp
        """,
        "escape": """
            @globals @__builtins__ @__loader__ @__spec__ @__file__ @__path__ @__cached__
            @__build_class__ builtins gc sys._getframe sys._current_frames sys._current_exceptions
            sys.exception traceback.walk_tb traceback.walk_stack traceback.extract_stack
            traceback.print_stack traceback.format_stack @license @credits @copyright types.FunctionType
            types.CodeType types.LambdaType types.ModuleType types.FrameType types.CellType
            threading._current_frames opcode dis faulthandler tracemalloc @__annotations__
            functools._lru_cache_wrapper
        """,
        "deserialiser": "pickle cPickle _pickle marshal shelve pickletools copyreg",
        "files": """
            io.FileIO io.open_code io.OpenWrapper os.chdir os.chroot os.pipe os.dup os.dup2
            os.closerange os.fchmod os.fchdir os.fwalk os.sendfile os.memfd_create os.ctermid os.statvfs
            os.sync os.umask mmap dbm fileinput linecache filecmp mailbox mimetypes.init
            mimetypes.read_mime_types mimetypes.MimeTypes tempfile.tempdir cgi cgitb pathlib.Path.cwd
            urllib.request.FileHandler urllib.request.URLopener urllib.request.FancyURLopener
            urllib.request.localhost tokenize.open logging.handlers xml.sax
            xml.etree.ElementInclude tempfile._get_default_tempdir ctypes.util fcntl crypt imghdr sndhdr
        """,
        "tampering": """
            atexit sys.modules sys.path sys.meta_path sys.path_hooks sys.path_importer_cache
            sys.setrecursionlimit sys.stdin sys.__stdout__ sys.__stderr__ sys.__stdin__ sys.excepthook
            sys.displayhook sys.unraisablehook sys.breakpointhook sys.addaudithook
            sys.set_asyncgen_hooks sys.setswitchinterval sys.set_coroutine_origin_tracking_depth
            sys.set_int_max_str_digits sys.argv sys.executable sys.prefix threading.settrace
            threading.setprofile threading.excepthook threading.stack_size
            threading.settrace_all_threads codecs.register codecs.register_error codecs.unregister
            warnings.showwarning warnings.formatwarning logging.setLogRecordFactory
            logging.setLoggerClass logging.disable logging.shutdown logging.root logging.lastResort
            unittest asyncio.set_event_loop_policy asyncio.set_event_loop urllib.request.install_opener
            test lib2to3 distutils sre_compile ast._const_types abc.ABCMeta.register
        """,
        "sockets": """
            _socket socketserver http.server wsgiref xmlrpc.server smtpd asyncore asynchat
            selectors asyncio.open_connection asyncio.start_server asyncio.open_unix_connection
            asyncio.start_unix_server asyncio.base_events asyncio.selector_events asyncio.streams
            asyncio.sslproto asyncio.transports asyncio.proactor_events ftplib smtplib imaplib poplib
            telnetlib nntplib syslog urllib.request.FTPHandler urllib.request.ftpwrapper
            logging.handlers.SocketHandler logging.handlers.DatagramHandler
            logging.handlers.SysLogHandler logging.handlers.HTTPHandler logging.handlers.SMTPHandler
            ssl.get_server_certificate ssl.SSLSocket ssl.wrap_socket http.cookiejar.FileCookieJar
        """,
        "native": "ctypes _ctypes cffi msvcrt winreg _winapi",
    }
)

_FREED = "sys.stdout sys.stderr"
_OF_STREAMS = "buffer close fileno detach reconfigure truncate seek writelines"


def _rules() -> dict[str, Rule | None]:
    rules: dict[str, Rule | None] = dict.fromkeys(FREE)
    for module, (rule, names) in _PARTS.items():
        rules[module] = rule
        rules.update({f"{module}.{name}": None for name in names.split()})
    for rule, names in _DOES.items():
        rules.update(dict.fromkeys(names.split(), rule))
    for stream in _FREED.split():
        rules[stream] = None
        rules.update({f"{stream}.{name}": "tampering" for name in _OF_STREAMS.split()})
    return rules


STDLIB: Mapping[str, Rule | None] = MappingProxyType(_rules())
"""The rule that a dotted path breaks; None when it is free."""
PARTIAL = frozenset(module for module in _PARTS if module not in ("getpass", "select"))
"""Modules that may be imported for the sake of some of their names."""

SAME_AS: Mapping[str, str] = MappingProxyType(
    {
        "posixpath": "os.path",
        "ntpath": "os.path",
        "genericpath": "os.path",
        "posix": "os",
        "nt": "os",
        "_io": "io",
        "_pyio": "io",
        "__builtin__": "builtins",
        "sqlite3.dbapi2": "sqlite3",
        "_sqlite3": "sqlite3",
        "concurrent.futures.thread": "concurrent.futures",
        "pathlib.PosixPath": "pathlib.Path",
        "pathlib.WindowsPath": "pathlib.Path",
        "asyncio.queues": "asyncio",
        "asyncio.events": "asyncio",
        "_pydatetime": "datetime",
    }
)
"""Other names of the same modules."""

NOT_MODULES = frozenset(
    [
        "datetime.time",
        "os.stat",
        "sys.platform",
        "inspect.trace",
        "os.path",
        "os.times",
        "typing.re",
        "typing.io",
        "string.token",
    ]
)
"""Attributes that are called like a standard module and are none."""
