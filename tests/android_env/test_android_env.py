"""android_env's API: its list of tests as rebuilt from its text, on phones in process."""

import base64
import io
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agent.devices.frames.raw_segment import RawSegment
from agent.devices.frames.shared_segment import new_name
from agent.errors import DeviceError, UsageError, WrongStateError
from console.android_env.environment import AndroidAction, AndroidEnvironment, AndroidObservation
from console.android_env.pool import EmulatorPool, EmulatorPoolManager, PoolClosedError

SMALL = (90, 200)
SEGMENTS = Path("/dev/shm")


@pytest.fixture(scope="module")
def pool() -> Iterator[EmulatorPool]:
    with EmulatorPool(pool_size=5, size_px=SMALL) as made:
        yield made


def middle(seen: AndroidObservation, text: str) -> AndroidAction:
    node = next(
        one for one in seen.extras["tree"] if text in (one.get("text"), one.get("description"))
    )
    box = node["bounds"]
    x, y = (box.get("left", 0.0) + box["right"]) / 2, (box.get("top", 0.0) + box["bottom"]) / 2
    return AndroidAction("tap", {"x": x, "y": y})


def test_one_environment_does_a_task_and_begins_anew() -> None:
    with AndroidEnvironment(size_px=SMALL) as env:
        assert env.state.episode_id == "" and env.state.step_count == 0
        seen = env.reset(task="bluetooth-on")
        first = env.state
        assert seen.extras["goal"] and (seen.reward, seen.done) == (0.0, False)
        for label in ("Settings", "Connected devices", "Bluetooth"):
            seen = env.step(middle(seen, label))
        saved = env.save()
        seen = env.step(middle(seen, "Use Bluetooth"))
        assert (seen.reward, seen.done, env.state.step_count) == (1.0, True, 4)
        with pytest.raises(WrongStateError, match="reset"):
            env.step(AndroidAction("tap", {"x": 0.5, "y": 0.5}))
        begun = env.reset(task="bluetooth-on", snapshot=saved)
        assert env.state.episode_id != first.episode_id and env.state.step_count == 0
        assert env.step(middle(begun, "Use Bluetooth")).done
    env.close()
    with pytest.raises(WrongStateError, match="closed"):
        env.reset()


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_picture_decodes_to_the_size_that_is_told(kind: str) -> None:
    with AndroidEnvironment(image_format=kind, size_px=SMALL) as env:
        seen = env.reset(seed=1)
    picture = Image.open(io.BytesIO(base64.b64decode(seen.screen_image)))
    assert (picture.format, picture.size) == (kind, SMALL)
    assert (seen.screen_width, seen.screen_height) == SMALL
    assert seen.pixels_shape == (SMALL[1], SMALL[0], 3)


def test_actions_in_a_row_clip_what_is_outside_and_name_what_is_wrong(pool: EmulatorPool) -> None:
    env = pool.get()
    try:
        env.reset(task="note-many-scripts")
        for action in (
            AndroidAction("tap", {"x": 1.5, "y": -0.5}),
            AndroidAction("tap", {"x": 0.0, "y": 1.0}),
            AndroidAction("swipe", {"x1": 0.5, "y1": 0.7, "x2": 0.5, "y2": 0.3}),
            AndroidAction("press_button", {"button": "home"}),
        ):
            assert env.step(action).extras["error"] == ""
        refused = env.step(AndroidAction("type_text", {"text": "nowhere"}))
        assert "focus" in refused.extras["error"] and not refused.done
        for label in ("Notes", "New note", "Note"):
            refused = env.step(middle(refused, label))
        # Quotes, spaces, other scripts, emoji, and what a shell would read.
        text = 'a "b" \\ $HOME `id` ;rm a|b 100%s 世界 🌍'
        seen = env.step(AndroidAction("type_text", {"text": text}))
        assert text in {one.get("text") for one in seen.extras["tree"]}
        for wrong in (
            AndroidAction("teleport"),
            AndroidAction("tap", {"x": 0.5}),
            AndroidAction("tap", {"x": 0.5, "y": 0.5, "z": 1}),
            AndroidAction("press_button", {"button": "EJECT"}),
        ):
            with pytest.raises(UsageError):
                env.step(wrong)
    finally:
        pool.put(env)


def test_another_program_maps_the_picture_from_offset_zero_and_it_goes_with_its_writer() -> None:
    env = AndroidEnvironment(use_shared_memory=True, size_px=SMALL)
    seen = env.reset(seed=1)
    name = seen.screen_image.removeprefix("shm://")
    assert seen.screen_image.startswith("shm://") and (SEGMENTS / name).is_file()
    reader = (
        "import sys, numpy, mmap\n"
        "height, width = int(sys.argv[2]), int(sys.argv[3])\n"
        "with open('/dev/shm/' + sys.argv[1], 'rb') as file:\n"
        "    shm = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n"
        "pixels = numpy.ndarray((height, width, 3), dtype=numpy.uint8, buffer=shm)\n"
        "print(int(pixels.sum()))\n"
    )
    size = map(str, (seen.screen_height, seen.screen_width))
    said = subprocess.run(
        [sys.executable, "-c", reader, name, *size], capture_output=True, text=True, check=True
    ).stdout
    with AndroidEnvironment(image_format="PNG", size_px=SMALL) as other:
        png = base64.b64decode(other.reset(seed=1).screen_image)
    assert int(said) == int(np.asarray(Image.open(io.BytesIO(png)), np.uint8).sum())
    env.close()
    assert not (SEGMENTS / name).exists()


def test_a_segment_refuses_what_does_not_fit_and_a_name_that_is_taken() -> None:
    name = new_name()
    one = RawSegment(3, 2, name=name)
    try:
        with pytest.raises(UsageError, match="18 bytes"):
            one.write(b"short")
        with pytest.raises(DeviceError, match="exists"):
            RawSegment(3, 2, name=name)
        for size in ((0, 5), (5, 1 << 20)):
            with pytest.raises(UsageError, match="pixels"):
                RawSegment(*size)
    finally:
        one.close()
        one.close()
    RawSegment(3, 2, name=name).close()


def test_64_workers_on_5_phones_never_share_one_and_none_is_lost(pool: EmulatorPool) -> None:
    held: set[int] = set()
    lock = threading.Lock()

    def run(number: int) -> float:
        env = pool.get(timeout=120)
        with lock:
            assert id(env) not in held
            held.add(id(env))
        try:
            env.reset(seed=number)
            seen = env.step(AndroidAction("tap", {"x": 0.5, "y": 0.5}))
            return seen.reward
        finally:
            with lock:
                held.remove(id(env))
            pool.put(env)

    with ThreadPoolExecutor(max_workers=64) as workers:
        assert len(list(workers.map(run, range(100)))) == 100
    assert pool.get_stats() == {"pool_size": 5, "available": 5, "in_use": 0}


def test_an_empty_pool_a_closed_one_and_a_wrong_put_are_told() -> None:
    pool = EmulatorPool(pool_size=1, size_px=SMALL, use_shared_memory=True)
    env = pool.get()
    name = env.reset().screen_image.removeprefix("shm://")
    with pytest.raises(queue.Empty):
        pool.get(timeout=0.01)
    with pytest.raises(UsageError, match="not taken"):
        pool.put(AndroidEnvironment(size_px=SMALL))
    pool.put(env)
    with pytest.raises(UsageError, match="not taken"):
        pool.put(env)
    taken = pool.get()
    told: list[BaseException] = []

    def wait() -> None:
        try:
            pool.get()
        except PoolClosedError as error:
            told.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    pool.close()
    waiter.join(30)
    assert len(told) == 1 and isinstance(told[0], RuntimeError)
    pool.put(taken)
    pool.close()
    with pytest.raises(PoolClosedError):
        pool.get()
    assert not (SEGMENTS / name).exists()
    with pytest.raises(UsageError, match="pool_size"):
        EmulatorPool(pool_size=0)


def test_two_pools_go_by_their_names() -> None:
    with EmulatorPoolManager() as manager:
        for name in ("one", "other"):
            manager.create_pool(name, pool_size=1, size_px=SMALL)
        with pytest.raises(ValueError, match="already"):
            manager.create_pool("one", pool_size=1)
        env = manager.get("one")
        assert manager.get_stats("one")["in_use"] == 1
        assert manager.get_stats("other")["in_use"] == 0
        with pytest.raises(UsageError):
            manager.put("other", env)
        manager.put("one", env)
        manager.close("one")
        for call in (manager.get, manager.get_stats, manager.close):
            with pytest.raises(ValueError, match="no pool"):
                call("one")


@pytest.mark.parametrize("wrong", [{"image_format": "GIF"}, {"image_quality": 0}])
def test_wrong_arguments_are_named(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        AndroidEnvironment(**wrong)  # type: ignore[arg-type]
