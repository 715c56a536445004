import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Command } from "../../../src/actors/account/core/AccountProtocol.ts"
import { AccountId, StatusId } from "../../../src/services/database/Ids.ts"
import { post } from "../../support/Posts.ts"
import { Dice } from "../Seeded.ts"
import { ask, type make, type User } from "./Clients.ts"
import type { Universe } from "./Universe.ts"

/** First number of this scenario's commands. */
const firstNumber = 3_000

/** Time in which the blocked account acts without knowing about the block, in milliseconds. */
const unawareMillis = 20_000

/** Prefix of posts that refer to the account that blocked their author. */
const referencePrefix = "over-the-block"

/** Lists every connection of `blocked` with the post and its author, from rows of the author's server. */
const connections = Effect.fnUntraced(
  function*({ id, site: { host, sql } }: User, blocked: User, postId: bigint) {
    const rows = yield* sql<{ what: string }>`
    WITH them AS (SELECT id FROM accounts WHERE uri = ${`https://${blocked.site.host}/users/${blocked.name}`}),
      theirs AS (SELECT s.* FROM statuses s JOIN them ON them.id = s.account_id WHERE s.deleted_at IS NULL)
    SELECT 'mention' AS what FROM mentions m JOIN theirs s ON s.id = m.status_id
      WHERE m.account_id = ${id} AND NOT m.silent AND s.html LIKE ${`%${referencePrefix}%`}
    UNION ALL SELECT 'quote' FROM quotes q JOIN theirs s ON s.id = q.status_id WHERE q.quoted_status_id = ${postId}
    UNION ALL SELECT 'reply' FROM theirs WHERE in_reply_to_id = ${postId}
    UNION ALL SELECT 'boost' FROM theirs WHERE reblog_of_id = ${postId}
    UNION ALL SELECT 'favourite' FROM favourites f JOIN them ON them.id = f.account_id WHERE f.status_id = ${postId}
    UNION ALL SELECT 'notification of the ' || n.type FROM notifications n JOIN them ON them.id = n.from_account_id
      WHERE n.account_id = ${id} AND (n.status_id = ${postId} OR n.status_id IN (
        SELECT id FROM theirs WHERE html LIKE ${`%${referencePrefix}%`}))`
    return rows.map(({ what }) => `I11: ${host} has a ${what} of ${blocked.handle}, whom ${id} blocks`)
  }
)

/**
 * Blocks a remote account that keeps referring to the blocker until its server learns of the block: quotes, replies,
 * mentions in posts that others see, boosts and favourites. Returns references that passed the block (I11).
 */
export const run = Effect.fnUntraced(function*(
  universe: Universe,
  users: ReadonlyArray<User>,
  clients: Pick<ReturnType<typeof make>, "tell">,
  drain: Effect.Effect<void, SqlError>
) {
  const { seed, web } = universe
  const dice = new Dice(seed, "separation")
  const by = dice.pick(users)
  const friend = users.find((one) => one.site === by.site && one !== by)
  const blocked = dice.pick(users.filter((one) => one.site !== by.site))
  if (friend === undefined) return []
  let n = firstNumber
  const tell = (who: User, command: Command) => clients.tell(n++, who, command)
  const posted = Effect.fnUntraced(function*(who: User) {
    const result = yield* tell(who, { _tag: "Publish", post: post(`open to all, ${who.name}`) })
    return typeof result === "object" && "id" in result ? BigInt(result.id) : undefined
  })
  const [own, friendly] = [yield* posted(by), yield* posted(friend)]
  if (own === undefined || friendly === undefined) return []
  yield* drain
  const known = Effect.fnUntraced(function*(who: User, id: bigint) {
    const uri = `https://${who.site.host}/users/${who.name}/statuses/${id}`
    const found = yield* ask(universe, blocked.site, ({ lookup }) => lookup.resolve(blocked.id, uri))
    return found !== "unknown" && found?.kind === "status" ? StatusId.make(found.id) : undefined
  })
  const [theirs, others] = [yield* known(by, own), yield* known(friend, friendly)]
  const target = yield* by.site.sql<{ id: bigint }>`SELECT id FROM accounts
    WHERE username = ${blocked.name} AND domain = ${blocked.site.host}`
  // Earlier blocks hide the posts.
  if (theirs === undefined || others === undefined || target[0] === undefined) return []
  web.outages.set(blocked.site.host, "refuses")
  yield* tell(by, { _tag: "Block", target: AccountId.make(target[0].id) })
  const publish = (text: string, more?: Parameters<typeof post>[1]): Command => ({
    _tag: "Publish",
    post: post(`${referencePrefix} ${text}`, more)
  })
  const acts: ReadonlyArray<Command> = [
    publish(`quote @${by.handle}`, { quotedStatusId: others }),
    publish(`quote @${friend.handle}`, { quotedStatusId: theirs }),
    publish(`reply @${friend.handle}`, { inReplyToId: theirs }),
    publish(`mention @${by.handle} @${friend.handle}`),
    { _tag: "Favourite", statusId: theirs },
    { _tag: "Reblog", statusId: theirs, visibility: null }
  ]
  for (const act of acts) yield* tell(blocked, act)
  yield* Effect.sleep(unawareMillis)
  web.outages.delete(blocked.site.host)
  yield* drain
  universe.count("separation")
  return yield* connections(by, blocked, own)
})
