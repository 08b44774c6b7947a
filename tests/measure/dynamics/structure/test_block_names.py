from freshet.measure.dynamics.structure.block_names import block_names
from freshet.measure.dynamics.structure.blocks import BlockBehaviour, DomBlock


def called(*blocks: tuple[str, str]) -> list[str]:
    return block_names([
        DomBlock(path, 1.0, 1.0, 1.0, 1, 0, 0, 1.0, None, True, BlockBehaviour.STAYS, sample)
        for path, sample in blocks
    ])


def test_a_block_is_called_by_the_end_of_its_path_or_by_its_text():
    assert called(("/html[0]/body[0]/div[1]/p[0]", ""), ("/html[0]/p[1]", "News")) == [
        "body[0]/div[1]/p[0]",
        "p[1]: News",
    ]


def test_blocks_with_the_same_name_are_distinguished():
    names = called(
        ("/html[0]/div[0]/a[0]/ul[0]/li[1]/p[0]", ""),
        ("/html[0]/div[1]/a[0]/ul[0]/li[1]/p[0]", ""),
        ("/html[0]/div[1]/a[0]/ul[0]/li[2]/p[0]", "Read more"),
        ("/html[0]/div[2]/a[0]/ul[0]/li[2]/p[0]", "Read more"),
    )
    assert names == [
        "div[0]/…/li[1]/p[0]",
        "div[1]/…/li[1]/p[0]",
        "div[1]/…/li[2]/p[0]: Read more",
        "div[2]/…/li[2]/p[0]: Read more",
    ]


def test_a_page_without_blocks_has_no_names():
    assert called() == []
