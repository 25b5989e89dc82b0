import random

from envpool import Environment

WITH = """
    bee blue cake care code deep desk ear east easy egg end eye face free game gate head heat joke
    key kite lake late leaf line love meal neck net news nice note oven pet pie poem rice rose sea
    seat size tent true view wave week yes
"""
WITHOUT = """
    aim ant art book box call camp city clay cook copy corn dish dust fat flat food frog full fun
    gift hand hard horn hot jump list long mail man milk plan play rock roof ship skin slow snow
    stop tail talk wall war wing word yard zoo
"""


class ContainsE(Environment):
    rule = "Does the input contain the small letter e?"

    def sample(self, rng: random.Random, level: int) -> str:
        words = [rng.choice(WITHOUT.split()) for _ in range(1 + level)]
        if rng.random() < 0.5:
            words[rng.randrange(len(words))] = rng.choice(WITH.split())
        return " ".join(words)

    def solve(self, x: str) -> bool:
        return "e" in x
