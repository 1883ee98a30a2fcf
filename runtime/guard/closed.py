"""Attributes that no component may touch, whatever they are read from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from runtime.guard.violations import Rule

OPEN_DUNDERS = frozenset(
    f"__{name}__"
    for name in [
        "name",
        "qualname",
        "doc",
        "class",
        "module",
        "version",
        "len",
        "iter",
        "next",
        "str",
        "repr",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "hash",
        "call",
        "enter",
        "exit",
        "aenter",
        "aexit",
        "init",
        "post_init",
        "annotations",
        "dict",
        "cause",
        "context",
        "notes",
        "members",
        "fields",
        "dataclass_fields",
        "pydantic_fields",
        "all",
        "slots",
        "contains",
        "getitem",
        "setitem",
        "delitem",
        "setattr",
        "new",
        "init_subclass",
        "set_name",
        "missing",
        "format",
        "bool",
        "int",
        "float",
        "index",
        "complex",
        "add",
        "radd",
        "iadd",
        "sub",
        "rsub",
        "mul",
        "rmul",
        "matmul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "neg",
        "pos",
        "abs",
        "invert",
        "and",
        "or",
        "xor",
        "lshift",
        "rshift",
        "round",
        "aiter",
        "anext",
        "await",
        "orig_class",
        "args",
        "origin",
        "parameters",
        "wrapped",
        "suppress_context",
        "get",
        "set",
        "delete",
        "length_hint",
        "bytes",
        "reversed",
        "getattr",
        "traceback",
        "copy",
        "deepcopy",
        "del",
        "class_getitem",
        "match_args",
        "sizeof",
        "dir",
        "or",
        "ror",
        "root_model",
        "annotations",
        "pydantic_extra",
        "fields_set",
        "fields",
        "model_fields",
        "pydantic_validator",
        "metadata",
        "supertype",
        "constraints",
        "bound",
        "contravariant",
        "covariant",
        "total",
        "required_keys",
        "optional_keys",
        "isabstractmethod",
        "floor",
        "ceil",
        "trunc",
        "divmod",
        "getstate",
        "setstate",
    ]
)
"""Double-underscore attributes that lead nowhere else; every other one is refused."""

_CLOSED: Mapping[Rule, str] = MappingProxyType(
    {
        "escape": """
            gi_frame gi_code gi_yieldfrom cr_frame cr_code cr_await cr_origin ag_frame ag_code ag_await tb_frame
            tb_next tb_lasti f_back f_builtins f_code f_globals f_locals f_trace f_lineno func_globals func_code
            func_closure func_defaults co_code co_consts co_names co_varnames co_freevars co_cellvars co_filename
            co_lnotab mro cell_contents im_func im_self _getframe
        """,
        "process": """
            create_subprocess_exec create_subprocess_shell subprocess_exec subprocess_shell posix_spawn forkpty
            add_signal_handler check_output getoutput getstatusoutput
        """,
        "sockets": """
            create_datagram_endpoint create_unix_connection create_unix_server sock_connect sock_recv sock_sendall
            sock_accept wrap_socket wrap_bio connect_tcp connect_unix_socket connect_accepted_socket add_reader
            add_writer connect_read_pipe connect_write_pipe create_server
        """,
        "dynamic_code": """
            exec_module load_module source_to_code find_spec find_loader find_module module_from_spec
            spec_from_file_location spec_from_loader run_path run_module run_string import_module set_function
            get_function build_template_config template_config
        """,
        "files": "get_file_content_dicts keylog_filename full_path_of get_full_path load_cert_chain xinclude",
        "tampering": "set_exception_handler set_default_executor set_task_factory load_extension enable_load_extension",
        "secrets": "list_key_names get_variables auth_settings SECRET_KEY raw_graph_data vertex_map",
    }
)
CLOSED: Mapping[str, Rule] = MappingProxyType({name: rule for rule, names in _CLOSED.items() for name in names.split()})
"""Attributes that only dangerous things have, with the rule that each breaks."""

MODULES_HIDE_IN = frozenset(
    ["os", "sys", "subprocess", "builtins", "importlib", "shutil", "socket", "ctypes", "pickle"]
)


def attribute_rule(name: str) -> Rule | None:
    """The rule that reading an attribute breaks, whatever it is read from."""
    if name in CLOSED:
        return CLOSED[name]
    if name.startswith("__") and name.endswith("__") and len(name) > 4 and name not in OPEN_DUNDERS:
        return "escape"
    return None
