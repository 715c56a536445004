import { assert } from "@effect/vitest"
import { Effect } from "effect"
import generator, { type WebSocketInterface } from "megalodon"
import * as Eventually from "../support/Eventually.ts"
import { TestServer } from "../support/Server.ts"
import { Declarations } from "./Declarations.ts"

/** Makes a client with a user's token, or without one. */
export const client = Effect.fnUntraced(function*(accessToken: string | null = null) {
  const { baseUrl } = yield* TestServer
  return generator("mastodon", baseUrl, accessToken)
})

/** Creates a user with a client that has all scopes. */
export const newcomer = Effect.fnUntraced(function*(username: string) {
  const { createPerson } = yield* TestServer
  const person = yield* createPerson(username)
  return { ...person, id: String(person.accountId), api: yield* client(person.token) }
})

const declarations = new Declarations([
  `${import.meta.dirname}/../../node_modules/megalodon/lib/esm/entities`
])

/**
 * Known places where the client's types require fields that Mastodon omits, or do not allow its nulls (entities.md).
 */
const known = [
  // A subscription has a numeric id and only the requested alerts; an announcement has been published.
  /^\.id: \d+ is not string/,
  /^\.alerts\.\w+: undefined/,
  /\.published: undefined/,
  /\.mute_expires_at: null/,
  /\.statuses_count: "/,
  /\.last_status_at: null/,
  /\.discoverable: null is not/,
  /\.history\.\d+\.(uses|accounts): "/,
  /\.contact_account: null is not/,
  /\.(noindex|suspended|limited|moved): undefined is not/,
  /\.pinned: undefined is not/,
  /\.(reblogged|favourited|muted): undefined is not/,
  /^\.params\.scheduled_at: undefined is not/
]

/** Returns the mismatches of one or several responses with the client's declared type. */
export const mismatches = (value: unknown, type: string) =>
  declarations.mismatches(value, type).filter((line) => !known.some((pattern) => pattern.test(line)))

/** Asserts that one or several responses match the client's declared type. */
export const conforms = (value: unknown, type: string) => assert.deepStrictEqual(mismatches(value, type), [], type)

/** Returns the status of a refused call. */
export const refusal = async (call: Promise<unknown>): Promise<unknown> => {
  const outcome = await call.then(() => undefined, (error: unknown) => error)
  assert.instanceOf(outcome, Error)
  const response: unknown = Reflect.get(outcome, "response")
  return typeof response === "object" && response !== null ? Reflect.get(response, "status") : String(outcome)
}

export interface Socket {
  readonly next: (event: string, about?: (value: unknown) => boolean) => Promise<unknown>
}

/**
 * Opens a socket of the client, which closes with the scope; `next` waits for an event by name and, optionally, by a
 * condition.
 */
export const stream = Effect.fnUntraced(function*(open: () => Promise<WebSocketInterface>) {
  const socket = yield* Effect.acquireRelease(Effect.promise(open), (socket) => Effect.sync(() => socket.stop()))
  socket.on("parser-error", (error) => assert.fail(String(error)))
  const next: Socket["next"] = (event, about = () => true) =>
    new Promise<unknown>((resolve) => {
      const heard = (value: unknown) => {
        if (!about(value)) return
        socket.removeListener(event, heard)
        resolve(value)
      }
      socket.on(event, heard)
    })
  yield* Effect.promise(() => next("connect"))
  const opened: Socket = { next }
  return opened
})

/** Repeats a request until its response shows the effect of an earlier command. */
export const eventually = <A>(ask: () => Promise<A>, good: (value: A) => boolean) =>
  Eventually.eventually(Effect.promise(ask), good)
