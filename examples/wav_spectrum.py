"""The spectrum of a WAV file: its strongest frequencies, and a picture in decibels (SVG).

    python examples/wav_spectrum.py [FILE [PICTURE]]

Without a FILE it is examples/chord.wav, 0.3 s of 440, 550 and 660 Hz with noise. The first channel
of 16 bits is taken, of any length.
"""
import os
import sys
import wave

import numpy
import permc

# A Hann window, whose sum is m/2, keeps strong frequencies from leaking into others far away; a sine
# of amplitude 1 gets the power 1.
PROGRAM = r"""
main : [m]f32 -> ([]f32, []int)
main xs = (powers, map snd (top_k 12 (zip powers (iota (length powers)))))
  where
    window j = 0.5 - 0.5 * cospi (2 * f32 j * inverse_of_int m)
    powers = map (* (16 * inverse_of_int m * inverse_of_int m)) (power_spectrum (mapi (\j x -> x * window j) xs))
"""


def picture(decibels, rate):
    width, height, floor = 800, 300, -100
    columns = numpy.array_split(numpy.maximum(decibels, floor), width)
    points = " ".join(f"{x},{part.max() / floor * height:.1f}" for x, part in enumerate(columns) if len(part))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"><title>0 to {rate // 2} Hz, '
            f'0 to {floor} dB</title><polyline fill="none" stroke="#205080" points="{points}"/></svg>\n')


def main(path, target):
    with wave.open(path) as file:
        rate, channels = file.getframerate(), file.getnchannels()
        samples = numpy.frombuffer(file.readframes(file.getnframes()), "<i2")[::channels]
    powers, places = permc.compile(PROGRAM)(samples.astype(numpy.float32) / 2**15)
    # A peak is larger than its neighbours.
    peaks = [k for k in places.tolist() if powers[k] == powers[max(k - 1, 0) : k + 2].max()][:3]
    for k in peaks:
        print(f"{k * rate / len(samples):7.1f} Hz {10 * numpy.log10(powers[k]):6.1f} dB")
    with open(target, "w") as out:
        out.write(picture(10 * numpy.log10(numpy.maximum(powers, 1e-12)), rate))


if __name__ == "__main__":
    chord = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chord.wav")
    main(*(sys.argv[1:] + [chord, "spectrum.svg"][len(sys.argv) - 1 :]))
