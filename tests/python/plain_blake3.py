"""BLAKE3, as far as a journal needs it: the 32-byte hash of some bytes, with a key or without.

Written from the specification (O'Connor, Aumasson, Neves, Wilcox-O'Hearn: "BLAKE3, one function, fast everywhere", 2020). It is slow; with
the package `blake3` from PyPI installed, `journal.py` uses that instead.
"""

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT, KEYED_HASH = 1, 2, 4, 8, 16
MASK = 0xFFFFFFFF
BLOCK_BYTES, CHUNK_BYTES = 64, 1024

# The columns, then the diagonals.
QUARTERS = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)


def compress(chaining, block, counter, length, flags):
    words = [int.from_bytes(block[i:i + 4], "little") for i in range(0, BLOCK_BYTES, 4)]
    state = list(chaining) + list(IV[:4]) + [counter & MASK, counter >> 32, length, flags]
    for _ in range(7):
        for position, (a, b, c, d) in enumerate(QUARTERS):
            for word, turn_d, turn_b in ((words[2 * position], 16, 12), (words[2 * position + 1], 8, 7)):
                state[a] = (state[a] + state[b] + word) & MASK
                state[d] = rotate(state[d] ^ state[a], turn_d)
                state[c] = (state[c] + state[d]) & MASK
                state[b] = rotate(state[b] ^ state[c], turn_b)
        words = [words[source] for source in PERMUTATION]
    return [state[i] ^ state[i + 8] for i in range(8)]


def rotate(word, count):
    return (word >> count | word << (32 - count)) & MASK


def chunk(data, counter, key, mode, flags):
    """The chaining value of at most 1024 bytes."""
    chaining = list(key)
    blocks = [data[i:i + BLOCK_BYTES] for i in range(0, len(data), BLOCK_BYTES)] or [b""]
    for position, block in enumerate(blocks):
        mine = mode | (CHUNK_START if position == 0 else 0)
        if position == len(blocks) - 1:
            mine |= CHUNK_END | flags
        chaining = compress(chaining, block.ljust(BLOCK_BYTES, b"\0"), counter, len(block), mine)
    return chaining


def tree(data, counter, key, mode, flags):
    if len(data) <= CHUNK_BYTES:
        return chunk(data, counter, key, mode, flags)
    # The left side is as large a power of two of chunks as leaves something for the right.
    left = CHUNK_BYTES
    while left * 2 < len(data):
        left *= 2
    words = tree(data[:left], counter, key, mode, 0) + tree(data[left:], counter + left // CHUNK_BYTES, key, mode, 0)
    block = b"".join(word.to_bytes(4, "little") for word in words)
    return compress(key, block, 0, BLOCK_BYTES, mode | PARENT | flags)


def blake3(data, key=None):
    """The BLAKE3 hash of `data`, 32 bytes; with a key of 32 bytes the keyed one."""
    if key is None:
        words, mode = IV, 0
    else:
        words, mode = [int.from_bytes(key[i:i + 4], "little") for i in range(0, 32, 4)], KEYED_HASH
    return b"".join(word.to_bytes(4, "little") for word in tree(data, 0, words, mode, ROOT))
