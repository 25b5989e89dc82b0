"""Which file systems a pool is refused on, told from mount tables of other machines."""

from pathlib import Path

import pytest

from envpool.store import NetworkFileSystem, PoolWriter
from envpool.store.file_system import mount_of, refuse_shared

TABLE = r"""
22 1 0:21 / / rw,relatime shared:1 - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w
31 22 259:1 / /data rw,relatime shared:2 - ext4 /dev/nvme0n1 rw
32 31 0:44 / /data/shared rw,relatime shared:3 - nfs4 server:/export rw,vers=4.2
33 32 259:2 / /data/shared/local rw - xfs /dev/nvme1n1 rw
34 22 0:50 / /with\040blank rw - lustre mgs@tcp:/fs rw
35 22 0:51 / /sandbox rw - 9p none rw
36 22 0:52 / /home rw - fuse.sshfs me@host: rw
37 22 0:53 / /twice rw - nfs server:/a rw
38 22 0:54 / /twice rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("folder", "point", "kind"),
    [
        ("/runs/pool", "/", "overlay"),
        ("/data/pool", "/data", "ext4"),
        ("/data/shared/runs/pool", "/data/shared", "nfs4"),
        ("/data/shared/local/pool", "/data/shared/local", "xfs"),
        ("/data/shared-not/pool", "/data", "ext4"),
        ("/with blank/pool", "/with blank", "lustre"),
        ("/twice/pool", "/twice", "tmpfs"),
    ],
)
def test_the_mount_that_a_folder_lies_on_is_found(folder: str, point: str, kind: str) -> None:
    assert mount_of(Path(folder), TABLE) == (Path(point), kind)


@pytest.mark.parametrize("folder", ["/data/shared/a", "/with blank", "/home/me/runs"])
def test_what_several_machines_share_is_refused_with_the_way_out(folder: str) -> None:
    with pytest.raises(NetworkFileSystem, match=r"local disk: set pool\.folder"):
        refuse_shared(Path(folder), TABLE)


@pytest.mark.parametrize("folder", ["/runs", "/data/a", "/sandbox/a", "/twice/a", "/data/shared/local"])
def test_what_one_machine_has_alone_is_not_refused(folder: str) -> None:
    refuse_shared(Path(folder), TABLE)


def test_no_mount_table_refuses_nothing(tmp_path: Path) -> None:
    refuse_shared(tmp_path, "")
    PoolWriter.open(tmp_path, 1 << 20).close()
