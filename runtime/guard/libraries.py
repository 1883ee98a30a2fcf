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
            lfx.services lfx.settings lfx.utils.env_var_security
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
            langchain_experimental.llm_bash lfx.base.mcp lfx.fork lfx.preload
            mcp.client.stdio mcp.StdioServerParameters mcp.stdio_client
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
            lfx.utils.sandbox lfx.utils.validate lfx.utils.lazy_load lfx.utils.lazy_import lfx.utils.langflow_utils
            lfx.utils.python_repl_security lfx.utils.util.get_default_factory
            lfx.utils.util.build_template_from_function
            lfx.utils.util.build_template_from_method langflow.custom.eval
            langflow.utils.validate langflow.load langflow.interface langflow.processing langflow.graph
            langflow.custom.utils langflow.custom.code_parser jinja2.nativetypes jinja2.compiler jinja2.FunctionLoader
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
            langchain_community.document_loaders langchain_classic.document_loaders langchain.document_loaders
            langchain_unstructured langchain_core.documents.Blob langchain_core.documents.base.Blob
            langchain_core.document_loaders.Blob langchain_core.document_loaders.blob_loaders
            langchain_core.prompts.load_prompt langchain_core.prompts.loading
            langchain_community.chat_message_histories.FileChatMessageHistory
            langchain_community.chat_message_histories.file
            lxml.etree.XSLT lxml.etree.XInclude lxml.ElementInclude lxml.isoschematron
            langchain_community.agent_toolkits.FileManagementToolkit
            langchain_community.tools.file_management langchain_community.tools.ReadFileTool
            langchain_community.tools.WriteFileTool langchain_community.tools.ListDirectoryTool
            langchain.storage.LocalFileStore langchain_classic.storage.LocalFileStore
            pydantic.parse_file_as lfx.base.data lfx.utils.image lfx.utils.end_user_storage
            lfx.log.logger.configure
            lfx.components.files_and_knowledge.file lfx.components.files_and_knowledge.filesystem
            lfx.components.files_and_knowledge.directory lfx.components.files_and_knowledge.save_file
            lfx.components.files_and_knowledge._filesystem_isolation
            lfx.components.files_and_knowledge._filesystem_namespace lfx.components.data.file
            lfx.components.data.directory lfx.components.input_output.file
            lfx.schema.image.Image lfx.schema.image.get_files
            jinja2.FileSystemLoader jinja2.PackageLoader jinja2.loaders jinja2.ModuleLoader
            pygments.formatters.load_formatter_from_file pygments.lexers.load_lexer_from_file
        """,
        "tampering": """
            gevent eventlet forbiddenfruit wrapt.patch_function_wrapper mock monkeypatch pytest
            uvloop.install lfx.mcp lfx.extension lfx.upgrade lfx.testing lfx.utils.util.update_settings
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

_FREED = """
    lfx.services.deps.get_settings_service lfx.services.deps.get_tracing_service
    lfx.services.cache.utils.CacheMiss lfx.services.model_provider_policy lfx.services.schema
    lfx.base.mcp.constants lfx.base.mcp.util.MCPStreamableHttpClient
    lfx.base.mcp.util.config_uses_global_variables lfx.base.data.docling_utils
    lfx.base.data.utils.TEXT_FILE_TYPES lfx.base.data.utils.IMG_FILE_TYPES lfx.base.data.utils.normalize_text
    lfx.base.data.utils.parse_structured_text
    lfx.base.data.storage_utils.parse_storage_path lfx.base.data.storage_utils.require_storage_service
    lfx.base.data.storage_utils.validate_image_content_type lfx.utils.sandbox.is_sandbox_enabled
    lfx.utils.python_repl_security.ensure_code_execution_enabled lfx.utils.python_repl_security.validate_code_safety
    langchain_community.document_loaders.WebBaseLoader langchain_community.document_loaders.web_base
    langchain_community.document_loaders.RecursiveUrlLoader langchain_community.document_loaders.recursive_url_loader
    langchain_community.document_loaders.WikipediaLoader langchain_community.document_loaders.ArxivLoader
    langchain_community.document_loaders.YoutubeLoader langchain_community.document_loaders.HNLoader
    langchain_community.document_loaders.RSSFeedLoader langchain_community.document_loaders.SitemapLoader
    langchain_community.document_loaders.AsyncHtmlLoader langchain_community.document_loaders.PubMedLoader
    langchain_community.document_loaders.DataFrameLoader langchain_community.document_loaders.FireCrawlLoader
    langchain_community.document_loaders.base langchain_community.document_loaders.youtube
"""
"""What is free of that which the rest of its package does."""

LIBRARIES: Mapping[str, Rule | None] = MappingProxyType(
    {
        **{path: rule for rule, names in _DOES.items() for path in names.split()},
        "langchain_experimental.text_splitter": None,
        **dict.fromkeys(_FREED.split()),
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
