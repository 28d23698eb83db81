"""An agent that does anything, for many episodes: `python -m tests.gymnasium.random_agent`.

Every observation has to be within its space, and every episode has to end.
"""

import argparse
import time
from collections import Counter

import gymnasium

import console.gymnasium


def play(episodes: int, *, phones: int, max_steps: int, looks: str, seed: int) -> Counter[str]:
    """Play episodes on several phones at once; returns what they came to."""
    env = gymnasium.make_vec(
        console.gymnasium.NAME, num_envs=phones, looks=looks, max_steps=max_steps
    )
    counts: Counter[str] = Counter()
    try:
        env.action_space.seed(seed)
        env.reset(seed=seed)
        while counts["episodes"] < episodes:
            seen, rewards, terminated, truncated, infos = env.step(env.action_space.sample())
            assert env.observation_space.contains(seen)
            counts["steps"] += phones
            counts["paid"] += int(rewards.sum())
            counts["terminated"] += int(terminated.sum())
            counts["truncated"] += int(truncated.sum())
            counts["episodes"] += int((terminated | truncated).sum())
            counts["refused"] += sum(map(bool, infos["error"]))
    finally:
        env.close()
    return counts


def main() -> None:
    """Play, and print what it came to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--phones", type=int, default=8)
    parser.add_argument("--max-steps", type=int, default=5)
    parser.add_argument("--looks", choices=("pixels", "tree", "both"), default="tree")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.perf_counter()
    counts = play(
        given.episodes,
        phones=given.phones,
        max_steps=given.max_steps,
        looks=given.looks,
        seed=given.seed,
    )
    took = time.perf_counter() - began
    said = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    print(f"{said} in {took:.0f} s: {counts['steps'] / took:.1f} steps a second")


if __name__ == "__main__":
    main()
