import { Clock, Deferred, Effect, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { OperatorError } from "../../src/layers/OperatorError.ts"
import { givenEmail } from "../../src/services/identity/RegistrationRules.ts"
import { Registrations } from "../../src/services/identity/Registrations.ts"
import { Users } from "../../src/services/identity/Users.ts"
import { Tokens } from "../../src/services/oauth/Tokens.ts"
import { Client } from "./Client.ts"
import type { Plan, PlannedPerson } from "./Plan.ts"

/** Maximum concurrent requests. */
const requestsAtOnce = 8
const scopes = ["read", "write", "follow", "push"]

/** Totals of a demonstration. */
export interface Figures {
  readonly accounts: number
  readonly follows: number
  readonly posts: number
  readonly replies: number
  readonly mentions: number
  readonly tags: number
  readonly links: number
  readonly languages: number
  readonly seconds: number
  /** Number of waits for rate limits, and their total duration in seconds. */
  readonly waits: number
  readonly waited: number
}

/** Creates an account with a token, like the command line; an account of an earlier demonstration gets a new token. */
const enter = Effect.fn("demo.enter")(
  function*({ username }: PlannedPerson) {
    const [registrations, tokens, users] = [yield* Registrations, yield* Tokens, yield* Users]
    const known = yield* users.findByUsername(username)
    const password = Redacted.make(Base64Url.encode(yield* (yield* SecureRandom.SecureRandom).randomBytes(15)))
    const accountId = Option.isSome(known) ? known.value.accountId : yield* registrations.create({
      username,
      email: givenEmail(`${username}@demo.example`),
      password,
      approved: true,
      confirmed: true
    })
    const { secret } = yield* tokens.issue({ appId: undefined, accountId }, scopes)
    return { id: String(accountId), token: Redacted.value(secret) }
  },
  Effect.catchTags({
    Unprocessable: ({ message }) => new OperatorError({ message }),
    Unavailable: ({ message }) => new OperatorError({ message })
  })
)

/** Creates everything in the plan on the server of the client and of the operator's services. */
export const fill = Effect.fn("demo.fill")(function*({ follows, people, posts }: Plan) {
  const client = yield* Client
  const start = yield* Clock.currentTimeMillis
  const run = start.toString(36)
  const entered = yield* Effect.forEach(people, enter, { concurrency: 2 })
  const tokenOf = (index: number) => entered[index]!.token

  yield* Effect.forEach(people, ({ displayName, language, note }, index) => {
    const profile = { ["display_name"]: displayName, note, source: { language } }
    const key = `demo ${run} profile ${index}`
    return client.send("PATCH", "/api/v1/accounts/update_credentials", tokenOf(index), profile, key)
  }, { concurrency: requestsAtOnce, discard: true })

  yield* Effect.forEach(
    follows,
    ([follower, followed]) =>
      client.send(
        "POST",
        `/api/v1/accounts/${entered[followed]!.id}/follow`,
        tokenOf(follower),
        {},
        `demo ${run} ${follower}>${followed}`
      ),
    { concurrency: requestsAtOnce, discard: true }
  )

  const ids = yield* Effect.forEach(posts, () => Deferred.make<string, OperatorError>())
  yield* Effect.forEach(posts, (post, index) =>
    Effect.gen(function*() {
      // The parent post comes earlier in the plan, so its author is not waiting for this one.
      const parentId = post.parent === undefined ? undefined : yield* Deferred.await(ids[post.parent]!)
      const body = {
        status: post.text,
        language: post.language,
        visibility: post.visibility,
        ...(post.spoiler === undefined ? {} : { ["spoiler_text"]: post.spoiler }),
        ...(parentId === undefined ? {} : { ["in_reply_to_id"]: parentId })
      }
      return yield* client.send("POST", "/api/v1/statuses", tokenOf(post.author), body, `demo ${run} ${index}`)
    }).pipe(Effect.onExit((exit) => Deferred.done(ids[index]!, exit))), { concurrency: requestsAtOnce, discard: true })

  const [waits, end] = [yield* client.waits, yield* Clock.currentTimeMillis]
  const count = (pattern: RegExp) => posts.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0)
  const figures: Figures = {
    accounts: people.length,
    follows: follows.length,
    posts: posts.length,
    replies: posts.filter(({ parent }) => parent !== undefined).length,
    mentions: count(/(?<!\S)@\w+/g),
    tags: count(/(?<!\S)#[^\s\d]/g),
    links: count(/https:\/\//g),
    languages: new Set(posts.map(({ language }) => language)).size,
    seconds: (end - start) / 1000,
    waits: waits.times,
    waited: waits.millis / 1000
  }
  return figures
})

/** Formats the figures as text. */
export const show = (figures: Figures): string =>
  `${figures.accounts} accounts, ${figures.follows} follows, ${figures.posts} posts in ${figures.languages} languages
${figures.replies} replies, ${figures.mentions} mentions, ${figures.tags} tags, ${figures.links} links
${figures.seconds.toFixed(1)} s, of which ${figures.waited.toFixed(1)} s in ${figures.waits} waits for a limit`
