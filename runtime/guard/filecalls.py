"""Functions and methods that reach files, with the arguments that name them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class FileCall:
    """A call that is allowed when what names its files is a temporary folder's.

    Attributes:
        positions: the arguments that name a file.
        names: the same arguments as keywords.
        source: what else they may be: `buffer` an open file or bytes in memory, `url` also an http(s) address,
            `absent` a buffer or nothing at all.
        gives_file: whether the result is a file or path in the same folder.
    """

    positions: tuple[int, ...] = (0,)
    names: tuple[str, ...] = ()
    source: str = ""
    gives_file: bool = False


_NAMES = (
    "file",
    "path",
    "filename",
    "name",
    "fp",
    "src",
    "dst",
    "fname",
    "top",
    "fd",
    "pathname",
    "database",
    "dir_fd",
)


def _rows() -> Iterator[tuple[str, FileCall]]:
    for name in [
        "listdir",
        "scandir",
        "remove",
        "unlink",
        "rmdir",
        "removedirs",
        "mkdir",
        "makedirs",
        "stat",
        "lstat",
        "access",
        "chmod",
        "chown",
        "lchown",
        "truncate",
        "mkfifo",
        "mknod",
        "utime",
        "readlink",
        "close",
        "write",
        "read",
        "fsync",
        "fstat",
        "ftruncate",
        "lseek",
        "getxattr",
        "setxattr",
        "listxattr",
        "removexattr",
        "isatty",
        "pathconf",
        "chflags",
    ]:
        yield f"os.{name}", FileCall(names=(*_NAMES, "dir_fd"))
    for name in ("open", "walk", "fdopen"):
        yield f"os.{name}", FileCall(names=(*_NAMES, "dir_fd"), gives_file=True)
    for name in ("rename", "renames", "replace", "link", "symlink"):
        yield f"os.{name}", FileCall((0, 1), _NAMES)
    for name in ("exists", "lexists", "isfile", "isdir", "islink", "ismount", "getsize", "getmtime", "getatime"):
        yield f"os.path.{name}", FileCall(names=_NAMES)
    yield "os.path.getctime", FileCall()
    yield "os.path.samefile", FileCall((0, 1))
    for name in ("@open", "io.open", "codecs.open", "aiofiles.open", "anyio.open_file"):
        yield name, FileCall(names=_NAMES, gives_file=True)
    for name in ("copy", "copy2", "copyfile", "copytree", "move", "copymode", "copystat"):
        yield f"shutil.{name}", FileCall((0, 1), _NAMES, gives_file=True)
    yield "shutil.rmtree", FileCall(names=_NAMES)
    yield "shutil.disk_usage", FileCall(names=_NAMES)
    yield "shutil.chown", FileCall(names=_NAMES)
    yield "shutil.make_archive", FileCall((0, 2, 3), ("base_name", "root_dir", "base_dir"), gives_file=True)
    yield "shutil.unpack_archive", FileCall((0, 1), ("filename", "extract_dir"))
    for name in ("glob", "iglob", "glob0", "glob1"):
        yield f"glob.{name}", FileCall(names=("pathname", "root_dir"), gives_file=True)
    yield from _archives_and_databases()
    yield from _numeric()
    yield from _pictures_and_documents()


def _archives_and_databases() -> Iterator[tuple[str, FileCall]]:
    for name in ("gzip.open", "bz2.open", "lzma.open", "zipfile.ZipFile", "zipfile.Path", "wave.open", "bz2.BZ2File"):
        yield name, FileCall(names=("file", "filename", "root", "f"), source="buffer")
    for name in (
        "lzma.LZMAFile",
        "zipfile.PyZipFile",
        "zipfile.is_zipfile",
        "tarfile.is_tarfile",
        "plistlib.readPlist",
    ):
        yield name, FileCall(names=("file", "filename", "name"), source="buffer")
    for name in ("gzip.GzipFile", "tarfile.open", "tarfile.TarFile", "tarfile.TarFile.open"):
        yield name, FileCall(names=("filename", "name"), source="absent")
    for name in ("parse", "iterparse", "ElementTree"):
        yield f"xml.etree.ElementTree.{name}", FileCall(names=("source", "file"), source="absent")
    for name in ("xml.dom.minidom.parse", "xml.dom.pulldom.parse", "lxml.etree.parse", "lxml.html.parse"):
        yield name, FileCall(names=("file", "source"), source="buffer")
    yield "sqlite3.connect", FileCall(names=("database",), source="memory")
    yield "duckdb.connect", FileCall(names=("database",), source="memory")
    yield "configparser.ConfigParser().read", FileCall(names=("filenames",))
    yield "configparser.RawConfigParser().read", FileCall(names=("filenames",))
    yield "urllib.request.urlretrieve", FileCall((1,), ("filename",), source="absent")
    yield "logging.FileHandler", FileCall(names=("filename",))
    yield "logging.basicConfig", FileCall((), ("filename",), source="absent")


def _numeric() -> Iterator[tuple[str, FileCall]]:
    for name in ("load", "loadtxt", "genfromtxt", "fromfile", "save", "savez", "savez_compressed", "savetxt"):
        yield f"numpy.{name}", FileCall(names=("file", "fname"), source="buffer")
    for name in ("memmap", "fromregex", "lib.format.open_memmap", "DataSource"):
        yield f"numpy.{name}", FileCall(names=("filename", "file", "destpath"))
    for name in [
        "csv",
        "json",
        "excel",
        "parquet",
        "feather",
        "hdf",
        "table",
        "fwf",
        "html",
        "xml",
        "sas",
        "spss",
        "stata",
        "orc",
    ]:
        yield f"pandas.read_{name}", FileCall(names=("filepath_or_buffer", "path_or_buf", "io", "path"), source="url")
    for name in ("ExcelFile", "HDFStore", "ExcelWriter"):
        yield f"pandas.{name}", FileCall(names=("path_or_buffer", "path"), source="buffer")
    for name in ("read_csv", "scan_csv", "read_json", "read_parquet", "scan_parquet", "read_excel", "read_ipc"):
        yield f"polars.{name}", FileCall(names=("source",), source="url")


def _pictures_and_documents() -> Iterator[tuple[str, FileCall]]:
    for name in ("convert", "convert_local", "convert_uri", "convert_url"):
        yield f"markitdown.MarkItDown().{name}", FileCall(names=("source", "path", "uri", "url"), source="url")
    for name in ("write", "append", "merge", "append_pages_from_reader"):
        yield f"pypdf.PdfWriter().{name}", FileCall(names=("stream", "fileobj"), source="absent")
    yield "pypdf.PdfWriter", FileCall((0, 1), ("fileobj", "clone_from"), source="absent")
    for name in ("XMLSchema", "RelaxNG", "DTD", "Schematron"):
        yield f"lxml.etree.{name}", FileCall(names=("file",), source="absent")
    yield "ssl.create_default_context", FileCall((1, 2), ("cafile", "capath"), source="absent")
    for name in ("PromptTemplate", "ChatPromptTemplate", "HumanMessagePromptTemplate", "SystemMessagePromptTemplate"):
        yield f"langchain_core.prompts.{name}.from_file", FileCall(names=("template_file",))
        yield f"langchain_core.prompts.{name}.from_template_file", FileCall(names=("template_file",))
    for name in [
        "PIL.Image.open",
        "openpyxl.load_workbook",
        "docx.Document",
        "pptx.Presentation",
        "pypdf.PdfReader",
        "PyPDF2.PdfReader",
        "pdfplumber.open",
        "xlrd.open_workbook",
        "h5py.File",
        "soundfile.read",
        "imageio.imread",
        "cv2.imread",
        "cv2.imwrite",
        "aiofiles.os.remove",
        "aiofiles.os.stat",
        "aiofiles.os.listdir",
        "aiofiles.os.path.exists",
        "fitz.open",
        "toml.load",
        "PIL.ImageFont.truetype",
        "moviepy.editor.VideoFileClip",
        "cv2.VideoCapture",
    ]:
        yield name, FileCall(names=("fp", "filename", "file", "stream", "docx", "f"), source="absent")


FILE_CALLS: Mapping[str, FileCall] = MappingProxyType(dict(_rows()))

PATH_READS = frozenset(
    [
        "open",
        "read_text",
        "read_bytes",
        "write_text",
        "write_bytes",
        "exists",
        "is_file",
        "is_dir",
        "is_symlink",
        "is_mount",
        "stat",
        "lstat",
        "iterdir",
        "glob",
        "rglob",
        "walk",
        "touch",
        "mkdir",
        "rmdir",
        "unlink",
        "chmod",
        "lchmod",
        "rename",
        "replace",
        "symlink_to",
        "hardlink_to",
        "link_to",
        "readlink",
        "owner",
        "group",
        "samefile",
        "is_socket",
        "is_fifo",
        "is_block_device",
        "is_char_device",
        "is_junction",
        "copy",
        "copy_into",
        "move",
        "move_into",
    ]
)
"""Methods of pathlib.Path that reach the disk."""

TELLING = frozenset(
    [
        "read_text",
        "read_bytes",
        "write_text",
        "write_bytes",
        "iterdir",
        "rglob",
        "symlink_to",
        "hardlink_to",
        "readlink",
        "lchmod",
    ]
)
"""Those among them that hardly anything else has: refused whatever they are called on, but for a temporary file."""

WRITERS: Mapping[str, FileCall] = MappingProxyType(
    {
        **dict.fromkeys(
            ["to_csv", "to_excel", "to_parquet", "to_feather", "to_hdf", "to_stata", "to_orc", "to_pickle", "tofile"],
            FileCall(names=("path_or_buf", "path", "excel_writer", "fid"), source="absent"),
        ),
        **dict.fromkeys(
            [
                "to_json",
                "to_html",
                "to_xml",
                "to_markdown",
                "to_latex",
                "to_string",
                "save",
                "savefig",
                "save_local",
                "dump_to",
                "write_image",
                "write_html",
            ],
            FileCall(names=("path_or_buf", "path", "buf", "path_or_buffer", "fname", "fp"), source="unless known"),
        ),
        **dict.fromkeys(
            ("extractall", "extract", "unpack_archive"), FileCall((), ("path", "extract_dir"), source="folder")
        ),
    }
)
"""Methods that write a file when they are given a path, whatever they are called on."""
