"""Which file system a folder lies on, and whether LMDB is safe there.

LMDB maps its file and coordinates through shared memory: on a file system that several machines mount, neither
holds, and a pool is damaged in silence. Only those are refused; overlay, tmpfs and a sandbox's 9p are local.
"""

import re
from pathlib import Path

from envpool.store.errors import NetworkFileSystem

MOUNT_TABLE = Path("/proc/self/mountinfo")
SHARED = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "ncpfs",
        "afs",
        "lustre",
        "gpfs",
        "beegfs",
        "fhgfs",
        "ceph",
        "glusterfs",
    }
    | {"orangefs", "pvfs2", "panfs", "wekafs", "gfs2", "ocfs2", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph"}
    | {
        "fuse.ceph-fuse",
        "fuse.cephfs",
        "fuse.s3fs",
        "fuse.s3ql",
        "fuse.goofys",
        "fuse.rclone",
        "fuse.gcsfuse",
    }
    | {"fuse.blobfuse", "fuse.blobfuse2", "fuse.juicefs", "fuse.mount-s3", "fuse.smbnetfs", "fuse.moosefs"}
    | {"fuse.mfs", "fuse.davfs", "fuse.seaweedfs"}
)


def refuse_shared(folder: Path, table: str | None = None) -> None:
    """Raises NetworkFileSystem for a folder on one. `table`: text like /proc/self/mountinfo; None: that file's."""
    if table is None:
        if not MOUNT_TABLE.exists():
            return
        table = MOUNT_TABLE.read_text(encoding="utf-8", errors="surrogateescape")
    point, kind = mount_of(folder.resolve(), table)
    if kind in SHARED:
        raise NetworkFileSystem(
            f"{folder} is on {kind} (mounted at {point}), where LMDB would be damaged; keep the pool on a local "
            "disk: set pool.folder (pool.replica_folder for replicas) to a folder on one"
        )


def mount_of(folder: Path, table: str) -> tuple[Path, str]:
    """Mount point and type of the file system that an absolute path lies on; the last mount on a point counts."""
    best = Path("/"), ""
    for line in table.splitlines():
        place, _, kind = line.partition(" - ")
        fields = place.split(" ")
        if len(fields) < 5 or not kind:
            continue
        point = Path(_unescaped(fields[4]))
        if folder.is_relative_to(point) and len(point.parts) >= len(best[0].parts):
            best = point, kind.split(" ")[0]
    return best


def _unescaped(text: str) -> str:
    """Blanks, tabs, line ends and backslashes are written in octal."""
    return re.sub(r"\\([0-7]{3})", lambda digits: chr(int(digits[1], 8)), text)
