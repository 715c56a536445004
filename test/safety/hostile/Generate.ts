import { Dice } from "../../simulation/Seeded.ts"

/** Seed of all requests, and number of runs: `HOSTILE_SEED=7 HOSTILE_RUNS=10000` for another and longer run. */
export const seed = Number(process.env["HOSTILE_SEED"] ?? 20_261_122)
export const runsOr = (standard: number): number => Number(process.env["HOSTILE_RUNS"] ?? standard)

/** Maximum duration of a test, in milliseconds: long enough for tens of thousands of runs. */
export const timeoutMillis = 3_600_000

/** Returns the dice of one run, independent of earlier runs. */
export const diceOf = (run: number): Dice => new Dice(seed, `hostile ${run}`)

/** Calls one of the functions, chosen with equal probability. */
export const oneOf = <A>(dice: Dice, ...from: ReadonlyArray<() => A>): A => dice.pick(from)()

const dates = [
  "9999-12-31T23:59:59.999Z",
  "+010000-01-01T00:00:00.000Z",
  "10000-01-01T00:00:00Z",
  "+275760-09-13T00:00:00.000Z",
  "-271821-04-20T00:00:00.000Z",
  "0000-00-00T00:00:00Z",
  "0001-01-01T00:00:00 BC",
  "1969-12-31T23:59:59Z",
  "2026-02-30T25:61:61Z",
  "infinity",
  "-infinity",
  "epoch",
  "2099-01-01",
  "2026-11-22T12:00:00+99:99"
]
const numbers: ReadonlyArray<string> = [
  "9007199254740993",
  "9223372036854775807",
  "9223372036854775808",
  "-9223372036854775809",
  "1e400",
  "-0",
  "1e-320",
  "0x7fffffff",
  "2147483648",
  "NaN",
  "99999999999999999999999999999999999999999999",
  "\u0661\u0662"
]
const languages = [
  "en-US-x-twain",
  "EN_us",
  "zz",
  "x",
  "i-klingon",
  "de_DE.UTF-8@euro",
  `en-${"a".repeat(300)}`,
  "__proto__"
]
const texts = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udfffx\ud83d",
  "\u202e\u2066x",
  "\ufeff",
  "\r\nset-cookie: a=b",
  "x\u2028y",
  "%00%0d%0a",
  "%ED%A0%80",
  "' OR 1=1 --",
  "\\",
  "$1",
  "{}",
  "[]",
  "constructor",
  "__proto__",
  "<script>alert(1)</script>",
  "javascript:alert(1)",
  "data:text/html,x",
  "http://[::1",
  "https://\u2100.example/\u0000",
  "@\u0301@\u0301.example",
  "#\u0301#",
  "true",
  "null",
  "undefined",
  "../../../etc/passwd"
]

/** Returns an unusual text; at most 300,000 bytes. */
export const text = (dice: Dice): string =>
  oneOf(
    dice,
    () => dice.pick(dates),
    () => dice.pick(numbers),
    () => dice.pick(languages),
    () => dice.pick(texts),
    () => dice.pick(texts),
    () => `${dice.pick(texts)}${dice.pick(texts)}${dice.pick(dates)}`,
    () => `a${"\u0301".repeat(dice.pick([10, 2_000, 100_000]))}`,
    () => "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}".repeat(dice.pick([1, 60, 5_000])),
    () =>
      dice.pick(["&", "[", "<", "a ", "@a@b.c ", "#a ", "https://a.b/ ", "\n", ":a:", "\ufdfa"]).repeat(
        dice.pick([3, 200, 40_000])
      )
  )

/** Returns JSON as text, which may be what no program writes: numbers beyond 2^53, repeated names, deep nesting. */
export const jsonText = (dice: Dice, depth = 0): string =>
  oneOf(
    dice,
    () => JSON.stringify(text(dice)),
    () => JSON.stringify(text(dice)),
    () =>
      dice.pick([
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1.5",
        "-0",
        "1e400",
        ...numbers.filter((one) => /^-?\d+$/.test(one))
      ]),
    () => {
      const levels = dice.pick([3, 40, 3_000])
      return dice.chance(0.5)
        ? `${"[".repeat(levels)}${"]".repeat(levels)}`
        : `${"{\"a\":".repeat(levels)}1${"}".repeat(levels)}`
    },
    () => `[${Array.from({ length: dice.pick([0, 5, 600, 12_000]) }, (_, n) => n).join(",")}]`,
    () => `{${Array.from({ length: dice.pick([0, 5, 1_500]) }, (_, n) => `"${n}":"v"`).join(",")}}`,
    () => depth > 2 ? "{}" : `[${jsonText(dice, depth + 1)},${jsonText(dice, depth + 1)}]`,
    () =>
      depth > 2
        ? "[]"
        : `{${JSON.stringify(text(dice))}:${jsonText(dice, depth + 1)},"a":${jsonText(dice, depth + 1)},"a":1}`
  )
