import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { createRestAPIClient, createStreamingAPIClient } from "masto"
import { TestServer } from "../support/Server.ts"
import { Declarations } from "./Declarations.ts"

export type Client = ReturnType<typeof createRestAPIClient>

/** Timeout of a response, in milliseconds. */
const timeout = 20_000

/** Makes a client with a user's token, or without one. */
export const client = Effect.fnUntraced(function*(accessToken?: string) {
  const { baseUrl: url } = yield* TestServer
  return createRestAPIClient({ url, timeout, ...(accessToken === undefined ? {} : { accessToken }) })
})

/** Creates a user with a client that has all scopes. */
export const newcomer = Effect.fnUntraced(function*(username: string) {
  const { createPerson } = yield* TestServer
  const person = yield* createPerson(username)
  return { ...person, id: String(person.accountId), api: yield* client(person.token) }
})

/** Opens the client's socket with a user's token; it closes with the scope. */
export const stream = Effect.fnUntraced(function*(accessToken: string) {
  const { baseUrl } = yield* TestServer
  return yield* Effect.acquireRelease(
    Effect.sync(() =>
      createStreamingAPIClient({ streamingApiUrl: baseUrl.replace("http", "ws"), accessToken, retry: 3 })
    ),
    (streaming) => Effect.sync(() => streaming.close())
  )
})

const entities = `${import.meta.dirname}/../../node_modules/masto/dist/mastodon/entities`
const [v1, v2] = [new Declarations([`${entities}/v1`]), new Declarations([`${entities}/v2`, `${entities}/v1`])]

/** Known places where the client's types are stricter or older than Mastodon's own responses (entities.md). */
const known = [
  // Mastodon returns codes and names.
  /^\.\d+: \{"code":"[\w-]+","name":"/,
  // Only the author of a local status sees its app; an account without posts has no last day.
  /\.(application|lastStatusAt): /,
  // Ids are strings, and tags inside a status have none.
  /\.tags\.\d+\.id: undefined/,
  /\.role\.(id|permissions): "/,
  /\.roles\.\d+\.id: "/,
  /\.role\.(position|createdAt|updatedAt|collectionLimit): undefined/,
  /\.source\.role: undefined/,
  // Emoji belong to the poll, not to its options.
  /\.options\.\d+\.emojis: undefined/,
  // Fields that are not configured.
  /^\.(thumbnail\.blurhash|configuration\.urls\.status|contact\.account|contactAccount): null/,
  /^\.apiVersions\.mastodon: \d/,
  // Only pictures have a size as text; sounds have no size, and no preview without a cover.
  /\.meta\.original\.(width|height|size|aspect): undefined/,
  /\.previewUrl: null/,
  // The filter in a result is of version 2; request counts are strings.
  /\.filter\.(phrase|irreversible|wholeWord): undefined/,
  /\.notificationsCount: "/,
  // Null for values without a choice or a date.
  /\.(languages|posting:default:language|startsAt|endsAt): null/,
  // A count as text, a numeric id of a subscription, and only the requested alerts.
  /\.statusesCount: "/,
  /^\.id: \d+ is not string/,
  /^\.alerts\.\w+: undefined/,
  // The client reads the keys in camel case.
  /^\.thumbnail\.versions\.@[12]x: undefined/,
  /\.featureApproval\.current_user: undefined/,
  /\.featureApproval\.currentUser: "missing"/
]

/** Returns the mismatches of one or several responses with the client's declared type. */
export const mismatches = (value: unknown, type: string, version: "v1" | "v2" = "v1") =>
  (version === "v1" ? v1 : v2).mismatches(value, type).filter((line) => !known.some((pattern) => pattern.test(line)))

/** Asserts that one or several responses match the client's declared type. */
export const conforms = (value: unknown, type: string, version: "v1" | "v2" = "v1") =>
  assert.deepStrictEqual(mismatches(value, type, version), [], type)

/** Returns the error of a refused call. */
export const refusal = async (
  call: Promise<unknown>
): Promise<{ readonly statusCode: number; readonly message: string }> => {
  const outcome = await call.then(() => undefined, (error: unknown) => error)
  assert.instanceOf(outcome, Error)
  assert.isTrue("statusCode" in outcome, String(outcome))
  return outcome as Error & { statusCode: number }
}
