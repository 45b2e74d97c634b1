"""Programs that take turns: permc, a copy of as many bytes, and other people's code for the same task.

Each is a process that does one run for each line of its input, and answers with a line, the seconds
that it took; at the end of its input it looks at what it has computed, and fails if that is wrong.
bench/peers/peer.h, bench/peers/arrays.py and `permc bench --turns` are such.
"""
import json
import math
import subprocess
import time

WARM_UP, LEAST, MOST, SPREAD = 2, 11, 1000, 0.02  # rounds; half of the median's interval


class Failed(Exception):
    pass


class Player:
    """A process that takes turns. permc copies, too, when it is asked for `word`."""

    def __init__(self, name, command, elements, word="", other=None):
        self.name, self.command, self.elements = name, command, elements
        self.line, self.other, self.samples = word + "\n", other, []
        self.process = other.process if other else subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def turn(self):
        said = ""
        try:
            self.process.stdin.write(self.line)
            self.process.stdin.flush()
            said = self.process.stdout.readline()
            seconds = float(said)
        except (OSError, ValueError):
            raise Failed(f"{self.name}: {said.strip() or 'the process has ended'}") from None
        if not 0 < seconds < math.inf:
            raise Failed(f"{self.name}: the clock stands still")
        return seconds

    def end(self):
        """What it says at its end. Failed: what it has computed is wrong."""
        said = self.process.communicate()[0]
        if self.process.returncode:
            raise Failed(f"{self.name}: it ends with {self.process.returncode}")
        return said

    def kill(self):
        self.process.kill()
        self.process.communicate()


# ---- statistics ---------------------------------------------------------------------------------


def interval_rank(count):
    """The largest l for which the median of what is measured lies between the l-th smallest and the
    l-th largest of `count` samples with a probability of 95 %; 0: there is none."""
    chosen, below, rank = 0.5**count, 0.0, 0
    for k in range((count + 1) // 2):
        below += chosen
        if 2 * below > 0.05:
            break
        rank = k + 1
        chosen *= (count - k) / (k + 1)
    return rank


def figures(samples):
    """With fewer than 6 samples the interval is the whole range."""
    samples, count = sorted(samples), len(samples)
    first = max(interval_rank(count) - 1, 0)
    return {"runs": count, "median": (samples[(count - 1) // 2] + samples[count // 2]) / 2,
            "mean": sum(samples) / count, "least": samples[0], "greatest": samples[-1],
            "low": samples[first], "high": samples[-1 - first]}


def spread(f):
    return (f["high"] - f["low"]) / 2 / f["median"]


# ---- rounds -------------------------------------------------------------------------------------


def play_round(players, number):
    """A B C, then B C A, C A B, ...: if the machine slows down, it does so for all of them."""
    order = players[number % len(players):] + players[:number % len(players)]
    taken = {player: player.turn() for player in order}
    return [taken[player] for player in players]


def play(players, seconds):
    """Fills the samples of all, until the first one's median is known or the time is over."""
    for number in range(WARM_UP):
        play_round(players, number)
    start = time.monotonic()
    for number in range(MOST):
        if number >= LEAST and (time.monotonic() - start >= seconds
                                or spread(figures(players[0].samples)) <= SPREAD):
            break
        for player, taken in zip(players, play_round(players, number)):
            player.samples.append(taken)


def side(first, player):
    """A row's member for one that is beside it. A ratio is the first one's time by this one's, in the
    same round; of times per element where it has another number of them."""
    scale = player.elements / first.elements
    ratio = figures([scale * a / b for a, b in zip(first.samples, player.samples)])
    other = {} if scale == 1 else {"elements": player.elements}
    return {"name": player.name, **other, "seconds": figures(player.samples), "ratio": ratio}


def report_of(said):
    """The report with one row that permc prints at the end of its turns."""
    report = json.loads(said)
    return report, report.pop("rows")[0]
