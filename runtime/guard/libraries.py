"""Libraries beyond the standard one, the engine among them: what in them does what a rule forbids."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from runtime.guard.violations import Rule

_DOES: Mapping[Rule, str] = MappingProxyType(
    {
        "secrets": """
            dotenv decouple environs keyring pydantic_settings pydantic.BaseSettings
            pydantic.v1.BaseSettings pydantic.v1.env_settings pydantic.env_settings starlette.config
            requests.utils.get_netrc_auth requests.utils.get_environ_proxies requests.utils.getproxies
            lfx.services.deps.get_variable_service lfx.services.deps.get_auth_service
            lfx.services.variable lfx.services.deps.get_db_service lfx.services.deps.get_session
            lfx.services.deps.session_scope lfx.services.deps.injectable_session_scope
            lfx.services.deps.session_scope_readonly lfx.services.deps.injectable_session_scope_readonly
            lfx.services.deps.get_service lfx.services.deps.get_connection_resolver lfx.services.manager
            lfx.services.auth lfx.services.database lfx.settings
            lfx.base.models.unified_models.get_api_key_for_provider
            lfx.base.models.unified_models.get_all_variables_for_provider
            lfx.base.models.unified_models.credentials langflow.services
            langchain_core.utils.get_from_env langchain_core.utils.get_from_dict_or_env
            langchain_core.utils.from_env langchain_core.utils.secret_from_env langchain_core.utils.env
            langchain.utils.get_from_env
        """,
        "process": """
            sh plumbum pexpect ptyprocess fabric invoke psutil docker pyautogui pynput git.cmd dulwich
            gunicorn sarge delegator celery ray dask.distributed loky billiard multiprocess pathos mpire
            anyio.run_process anyio.open_process anyio.to_process anyio.open_signal_receiver trio curio
            langchain_community.tools.ShellTool langchain_community.tools.shell
            langchain_community.utilities.BashProcess langchain_community.utilities.bash
            langchain_experimental.llm_bash lfx.base.mcp.util.MCPStdioClient
            lfx.base.mcp.util.update_tools mcp.client.stdio mcp.StdioServerParameters mcp.stdio_client
            pip setuptools pkg_resources pandas.read_clipboard click.launch click.edit typer.launch
            uvicorn hypercorn mcp.server apscheduler supervisor setproctitle
        """,
        "dynamic_code": """
            numexpr asteval RestrictedPython sympy.sympify sympy.parse_expr sympy.parsing sympy.lambdify
            sympy.utilities.lambdify pandas.eval pandas.core.computation numpy.f2py numpy.testing
            numpy.distutils execnet js2py py_mini_racer quickjs lupa cython pyximport
            langchain_experimental.utilities langchain_experimental.tools langchain_experimental.agents
            langchain_experimental.pal_chain langchain_experimental.llm_symbolic_math
            langchain_community.tools.python langchain_core.load langchain.load smolagents IPython
            nbconvert jupyter_client pydantic.ImportString pydantic.PyObject
            pydantic.utils.import_string pydantic.v1.PyObject pydantic.types.ImportString
            pydantic.types.PyObject pydantic._internal pydantic.v1.utils.import_string
            pydantic.v1.typing pydantic._migration pydantic.deprecated werkzeug.utils.import_string
            werkzeug.utils.find_modules django.utils.module_loading hydra zope.dottedname stevedore
            pluggy six.exec_ six.moves.builtins six.moves.cPickle mako tornado.template
            typing_extensions.get_type_hints typing_extensions.evaluate_forward_ref numba.core.registry
            lfx.custom.eval lfx.custom.validate lfx.custom.utils lfx.custom.code_parser
            lfx.custom.directory_reader lfx.custom.dependency_analyzer lfx.interface lfx.load lfx.run
            lfx.cli lfx.graph.Graph lfx.graph.graph lfx.helpers.flow lfx.base.tools.run_flow
            lfx.base.tools.flow_tool lfx.processing lfx.execution lfx.components.tools.python_repl
            lfx.components.tools.python_code_structured_tool lfx.components.prototypes
            lfx.utils.sandbox.run_code_in_sandbox lfx.utils.validate langflow.custom.eval
            langflow.utils.validate langflow.load langflow.interface langflow.processing langflow.graph
            langflow.custom.utils langflow.custom.code_parser jinja2.nativetypes jinja2.compiler
            ipykernel simpleeval bytecode typeguard.install_import_hook beartype.claw codetransformer
        """,
        "escape": "pydantic._internal._typing_extra varname executing stack_data objgraph pympler guppy sorcery frida",
        "deserialiser": """
            dill cloudpickle joblib jsonpickle torch.load torch.jit.load torch.hub hickle klepto
            yaml.unsafe_load yaml.unsafe_load_all yaml.full_load yaml.full_load_all yaml.UnsafeLoader
            yaml.Loader yaml.CLoader yaml.FullLoader yaml.CFullLoader yaml.CUnsafeLoader
            yaml.loader.UnsafeLoader yaml.loader.Loader yaml.loader.FullLoader
            yaml.constructor.UnsafeConstructor yaml.constructor.Constructor
            yaml.constructor.FullConstructor yaml.cyaml.CLoader yaml.cyaml.CUnsafeLoader
            yaml.cyaml.CFullLoader yaml.YAMLObject yaml.UnsafeConstructor pandas.read_pickle
            pandas.io.pickle pandas.compat.pickle_compat pandas.to_pickle sklearn.externals.joblib
            keras.models.load_model tensorflow.keras.models.load_model tensorflow.saved_model.load
            networkx.read_gpickle serpy zodbpickle ZODB fickling pickle5 kombu.serialization
            langgraph.checkpoint.serde celery.utils.serialization
        """,
        "files": """
            anyio.Path trio.Path fsspec smart_open upath pyfakefs watchfiles watchdog path path.Path
            unipath send2trash numpy.lib.npyio numpy.lib.DataSource pycurl requests_file
            langchain_community.document_loaders.TextLoader
            langchain_community.document_loaders.DirectoryLoader
            langchain_community.document_loaders.CSVLoader
            langchain_community.document_loaders.JSONLoader
            langchain_community.document_loaders.PyPDFLoader
            langchain_community.document_loaders.PythonLoader langchain_community.document_loaders.text
            langchain_community.document_loaders.directory
            langchain_community.document_loaders.UnstructuredFileLoader
            langchain_community.document_loaders.GitLoader
            langchain_community.document_loaders.UnstructuredMarkdownLoader
            langchain_community.agent_toolkits.FileManagementToolkit
            langchain_community.tools.file_management langchain_community.tools.ReadFileTool
            langchain_community.tools.WriteFileTool langchain_community.tools.ListDirectoryTool
            langchain.storage.LocalFileStore langchain_classic.storage.LocalFileStore
            pydantic.parse_file_as lfx.base.data.base_file lfx.base.data.utils.parse_text_file_to_data
            lfx.base.data.utils.aparse_text_file_to_data lfx.base.data.utils.retrieve_file_paths
            lfx.base.data.utils.parallel_load_data lfx.base.data.utils.aparallel_load_data
            lfx.base.data.utils.read_text_file lfx.base.data.utils.read_docx_file
            lfx.base.data.utils.parse_pdf_to_text lfx.base.data.utils.partition_file_to_data
            lfx.base.data.utils.read_text_file_async lfx.base.data.storage_utils.read_file_bytes
            lfx.base.data.storage_utils.read_file_text lfx.base.data.cloud_storage_utils
            lfx.components.files_and_knowledge.file lfx.components.files_and_knowledge.filesystem
            lfx.components.files_and_knowledge.directory lfx.components.files_and_knowledge.save_file
            lfx.components.files_and_knowledge._filesystem_isolation
            lfx.components.files_and_knowledge._filesystem_namespace lfx.components.data.file
            lfx.components.data.directory lfx.components.input_output.file lfx.services.storage
            lfx.services.deps.get_storage_service lfx.schema.image.Image lfx.schema.image.get_files
            jinja2.FileSystemLoader jinja2.PackageLoader jinja2.loaders jinja2.ModuleLoader
            pygments.formatters.load_formatter_from_file pygments.lexers.load_lexer_from_file
        """,
        "tampering": """
            gevent eventlet forbiddenfruit wrapt.patch_function_wrapper mock monkeypatch pytest
            uvloop.install lfx.services.deps.get_shared_component_cache_service
            wrapt.wrap_function_wrapper wrapt.register_post_import_hook wrapt.importer requests_mock
            respx freezegun responses vcr
        """,
        "sockets": """
            anyio.connect_tcp anyio.connect_unix anyio.create_tcp_listener anyio.create_unix_listener
            anyio.create_udp_socket anyio.create_connected_udp_socket anyio.create_unix_datagram_socket
            anyio.create_connected_unix_datagram_socket anyio.getaddrinfo anyio.wait_socket_readable
            paramiko asyncssh scapy zmq pyzmq socks pysocks twisted aiosmtplib aioftp telnetlib3
            pyftpdlib websockets.serve websockets.server websockets.sync.server
            websockets.asyncio.server websockets.unix_connect websockets.unix_serve
            aiohttp.UnixConnector aiohttp.NamedPipeConnector aiohttp.web aiohttp.web_runner
            aiohttp.TCPConnector.local urllib3.util.connection urllib3.util.ssl_ httpcore httpcore2
            requests_unixsocket urllib3.contrib.socks flask werkzeug.serving tornado.tcpserver
            tornado.tcpclient tornado.iostream tornado.httpserver grpc.server grpc.aio.server nats
            dnslib netifaces aioquic waitress bottle cheroot urllib3.contrib.pyopenssl OpenSSL.SSL
            pyroute2
        """,
        "native": "cffi _cffi_backend numpy.ctypeslib numba.cfunc pycparser llvmlite keystone unicorn cppyy pybind11",
    }
)

LIBRARIES: Mapping[str, Rule | None] = MappingProxyType(
    {
        **{path: rule for rule, names in _DOES.items() for path in names.split()},
        "langchain_experimental.text_splitter": None,
    }
)
"""The rule that a dotted path breaks; None frees a path below one that does."""

NAMES: Mapping[str, Rule] = MappingProxyType(
    {
        **dict.fromkeys(
            [
                "PythonREPL",
                "PythonREPLTool",
                "PythonAstREPLTool",
                "PythonREPLComponent",
                "PythonREPLToolComponent",
                "PALChain",
                "PythonFunctionComponent",
                "PythonCodeStructuredTool",
                "create_pandas_dataframe_agent",
                "create_csv_agent",
                "create_python_agent",
                "create_spark_dataframe_agent",
                "eval_custom_component_code",
                "create_class",
                "create_function",
                "execute_function",
                "eval_function",
                "LambdaFilterComponent",
                "CodeActAgent",
            ],
            "dynamic_code",
        ),
        **dict.fromkeys(["ShellTool", "BashProcess", "MCPToolsComponent", "MCPStdioClient"], "process"),
        **dict.fromkeys(
            ["get_from_env", "get_from_dict_or_env", "secret_from_env", "BaseSettings", "load_dotenv"], "secrets"
        ),
        **dict.fromkeys(
            ["ReadFileTool", "WriteFileTool", "FileManagementToolkit", "LocalFileStore", "FileComponent"], "files"
        ),
        **dict.fromkeys(("FileSystemToolComponent", "DirectoryComponent", "SaveToFileComponent"), "files"),
    }
)
"""Names that stand for the same thing wherever a library keeps them."""

HIDDEN_MODULES = frozenset(
    [
        "os",
        "sys",
        "subprocess",
        "builtins",
        "importlib",
        "ctypes",
        "socket",
        "shutil",
        "pickle",
        "marshal",
        "inspect",
        "gc",
        "posix",
        "pty",
        "multiprocessing",
        "signal",
        "runpy",
        "code",
        "codeop",
        "pkgutil",
        "cloudpickle",
        "dill",
    ]
)
"""Modules that other modules happen to hold: reached through one, they are still themselves."""
