"""A decoder that several threads use, as a reader and somebody who takes a picture do."""

from concurrent.futures import ThreadPoolExecutor

from agent.devices.scrcpy.decoding.decoder import Decoder, load
from agent.devices.scrcpy.packets import VideoPacket
from virtual_phone.scrcpy.stream import VideoEncoder

SIZES = [(160, 360), (64, 144)]


def test_pictures_are_whole_while_another_thread_decodes() -> None:
    from PIL import Image

    load()
    encoder = VideoEncoder(160, 360, bit_rate=1_000_000, max_fps=30)
    packets = [VideoPacket(0, encoder.configuration, is_config=True, is_key=False)]
    for number in range(60):
        image = Image.new("RGB", (160, 360), (number * 4, 40, 80))
        for pts, is_key, data in encoder.encode(image, number * 33_000):
            packets.append(VideoPacket(pts, data, is_config=False, is_key=is_key))
    decoder = Decoder()
    decoder.decode(packets[:2])

    def scale() -> list[int]:
        return [len(rgb) for _ in range(60) for rgb in decoder.scaled(SIZES)]

    with ThreadPoolExecutor(3) as threads:
        looking = [threads.submit(scale) for _ in range(2)]
        decoding = threads.submit(lambda: [decoder.decode([one]) for one in packets[2:]])
        decoding.result(60)
        for one in looking:
            assert set(one.result(60)) == {160 * 360 * 3, 64 * 144 * 3}
    assert decoder.pictures >= 59
