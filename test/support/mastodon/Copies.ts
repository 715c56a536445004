import { NodeServices } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path } from "effect"
import { cli } from "../CommandLine.ts"
import { TestServer } from "../Server.ts"
import type { Version } from "./Schema.ts"
import { server } from "./Server.ts"

/** A running server into which Mastodon servers are copied. */
export const servers = TestServer.layer().pipe(Layer.provideMerge(NodeServices.layer))

/** Returns the n-th id of January 2024. */
export const idOf = (n: number) => (BigInt(Date.UTC(2024, 0)) << 16n) + BigInt(n)

/** Starts an empty Mastodon server with the domain of the running server. */
export const source = (version: Version) => TestServer.use(({ baseUrl }) => server(version, new URL(baseUrl).host))

interface From {
  readonly url: string
  readonly env: string
  readonly folder: string
}

/** Returns the media folder of a Mastodon server. */
export const mediaOf = ({ folder }: From) => `${folder}/system`

/** Writes a file to the media folder of a Mastodon server. */
export const putFile = Effect.fnUntraced(function*(from: From, place: string, text: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(mediaOf(from), place)
  yield* fs.makeDirectory(path.dirname(file), { recursive: true })
  yield* fs.writeFileString(file, text)
})

const rejectsOf = ({ folder }: From) => `${folder}/rejects.tsv`

/** Returns the arguments of a command of `transfer mastodon`. */
export const argumentsOf = (from: From, verb: string, ...more: ReadonlyArray<string>) => [
  "transfer",
  "mastodon",
  verb,
  "--database",
  from.url,
  "--env",
  from.env,
  "--rejects",
  rejectsOf(from),
  ...more
]

/** Commands that are refused after members used the server. Here they overwrite, because tests read from this server before. */
const writing = new Set(["copy", "delta"])

/** Runs a command of `transfer mastodon`. */
export const transfer = (from: From, verb: string, ...more: ReadonlyArray<string>) =>
  TestServer.use(({ variables }) =>
    cli(argumentsOf(from, verb, ...(writing.has(verb) ? ["--overwrite"] : []), ...more), variables)
  )

/** Runs a command of `transfer mastodon` that must succeed; returns its output. */
export const transferred = Effect.fnUntraced(function*(from: From, verb: string, ...more: ReadonlyArray<string>) {
  const { code, err, out } = yield* transfer(from, verb, ...more)
  assert.deepStrictEqual([code, err], [0, ""])
  return out
})

/** Returns the file with the rows that the last run rejected, and their reasons. */
export const rejects = Effect.fnUntraced(function*(from: From) {
  const fs = yield* FileSystem.FileSystem
  const file = rejectsOf(from)
  assert.strictEqual(Number((yield* fs.stat(file)).mode) & 0o777, 0o600, "reasons quote values of rows")
  return yield* fs.readFileString(file)
})

/** Returns the step and id of each row that the last run rejected. */
export const rejected = (from: From) =>
  Effect.map(
    rejects(from),
    (text) => text.trim().split("\n").map((line) => line.split("\t").slice(0, 2).join(" "))
  )
