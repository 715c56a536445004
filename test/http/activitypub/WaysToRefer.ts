import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Json } from "../../services/federation/Peer.ts"
import { mentioning } from "./InboxCalls.ts"
import { deliverFrom, note, type RemotePerson } from "./Sending.ts"

/* All ways in which a remote account can refer to a local one. */

const everybody = "https://www.w3.org/ns/activitystreams#Public"

/** The local account, its post and poll, and a post of another local account. */
export interface Referred {
  readonly actor: string
  readonly post: string
  readonly poll: string
  readonly other: string
}

/** Makes the activities that refer to `to`; `name` is part of every id. */
type Way = (by: RemotePerson, to: Referred, name: string) => ReadonlyArray<Json>

/** Returns a date after the edited post; future dates count as now. */
const later = () => new Date(Date.now() + 60_000).toISOString()

const create = (object: Json): ReadonlyArray<Json> => [{ type: "Create", object }]

const link = (href: string) => ({
  type: "Link",
  mediaType: "application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\"",
  href
})
const quotes: Readonly<Record<string, (post: string) => Json>> = {
  quote: (quote) => ({ quote }),
  quoteUri: (quoteUri) => ({ quoteUri }),
  quoteUrl: (quoteUrl) => ({ quoteUrl }),
  misskeyQuote: (post) => ({ "_misskey_quote": post }),
  quoteLink: (post) => ({ tag: [link(post)] })
}
const request = (by: RemotePerson, name: string, type: string, object: string, instrument: Json) => ({
  id: `${by.id}/requests/${name}`,
  type,
  object,
  instrument
})
const activity = (by: RemotePerson, name: string, type: string, object: string): Json => ({
  id: `${by.id}/activities/${name}`,
  type,
  actor: by.id,
  object,
  to: [everybody]
})

export const ways: Readonly<Record<string, Way>> = {
  ...Object.fromEntries(
    Object.entries(quotes).map(([name, words]): [string, Way] => [
      name,
      (by, { post }, id) => create(note(by, id, words(post)))
    ])
  ),
  ...Object.fromEntries(
    Object.entries(quotes).map(([name, words]): [string, Way] => [
      `${name}ByEdit`,
      (by, { post }, id) => [
        ...create(note(by, id)),
        { type: "Update", object: note(by, id, { ...words(post), updated: later() }) }
      ]
    ])
  ),
  mention: (by, { actor }, id) => create(note(by, id, mentioning(actor))),
  mentionByEdit: (by, { actor }, id) => [
    ...create(note(by, id)),
    {
      type: "Update",
      object: note(by, id, { ...mentioning(actor), updated: later() })
    }
  ],
  address: (by, { actor }, id) => create(note(by, id, { to: [actor], cc: [] })),
  reply: (by, { post }, id) => create(note(by, id, { inReplyTo: post })),
  vote: (by, { actor, poll }, id) =>
    create({ ...note(by, id, { name: "yes", inReplyTo: poll, to: [actor], cc: [] }), content: undefined }),
  like: (by, { post }, id) => [activity(by, id, "Like", post)],
  likeWithEmoji: (by, { post }, id) => [{ ...activity(by, id, "Like", post), content: "🦊" }],
  emojiReact: (by, { post }, id) => [{ ...activity(by, id, "EmojiReact", post), content: "🐻" }],
  boost: (by, { post }, id) => [activity(by, id, "Announce", post)],
  quoteRequest: (by, { post }, id) => [request(by, id, "QuoteRequest", post, note(by, id, { quote: post }))],
  replyRequest: (by, { post }, id) => [request(by, id, "ReplyRequest", post, note(by, id, { inReplyTo: post }))],
  mentionInReplyRequest: (by, { actor, other }, id) => [
    request(by, id, "ReplyRequest", other, note(by, id, { inReplyTo: other, ...mentioning(actor) }))
  ],
  mentionInQuoteRequest: (by, { actor, other }, id) => [
    request(by, id, "QuoteRequest", other, note(by, id, { quote: other, ...mentioning(actor) }))
  ],
  quoteInReplyRequest: (by, { other, post }, id) => [
    request(by, id, "ReplyRequest", other, note(by, id, { inReplyTo: other, quoteUri: post }))
  ],
  likeRequest: (by, { post }, id) => [request(by, id, "LikeRequest", post, activity(by, id, "Like", post))],
  boostRequest: (by, { poll }, id) => [request(by, id, "AnnounceRequest", poll, activity(by, id, "Announce", poll))],
  boostOfMention: (by, { actor }, id) => [{
    ...activity(by, id, "Announce", ""),
    object: note(by, id, mentioning(actor))
  }],
  boostOfQuote: (by, { post }, id) => [{
    ...activity(by, id, "Announce", ""),
    object: note(by, id, { quoteUrl: post })
  }],
  follow: (by, { actor }, id) => [activity(by, id, "Follow", actor)],
  feature: (by, { actor }, id) => [
    request(by, id, "FeatureRequest", actor, {
      id: `${by.id}/collections/${id}`,
      type: "FeaturedCollection",
      attributedTo: by.id,
      name: "friends",
      orderedItems: []
    })
  ]
}

/** Sends all activities of a way in order. */
export const refer = (way: Way, by: RemotePerson, to: Referred, name: string) =>
  Effect.forEach(way(by, to, name), (one) => deliverFrom(by, one), { discard: true })

/** Counts the references to a local account that it or others would see. */
export const countReferring = Effect.fnUntraced(function*(accountId: bigint) {
  const sql = yield* SqlClient.SqlClient
  const own = sql`(SELECT id FROM statuses WHERE account_id = ${accountId})`
  const [row] = yield* sql<{ count: number }>`SELECT (
    (SELECT count(*) FROM quotes WHERE quoted_account_id = ${accountId} AND state IN ('pending', 'accepted'))
    + (SELECT count(*) FROM mentions WHERE account_id = ${accountId} AND NOT silent AND NOT (quiet AND EXISTS (
      SELECT FROM statuses s WHERE s.id = status_id AND s.visibility <> 'direct')))
    + (SELECT count(*) FROM statuses WHERE in_reply_to_id IN ${own} AND deleted_at IS NULL)
    + (SELECT count(*) FROM statuses WHERE reblog_of_id IN ${own} AND deleted_at IS NULL)
    + (SELECT count(*) FROM favourites WHERE status_id IN ${own})
    + (SELECT count(*) FROM emoji_reactions WHERE status_id IN ${own})
    + (SELECT count(*) FROM poll_votes WHERE status_id IN ${own})
    + (SELECT count(*) FROM interaction_requests WHERE status_id IN ${own})
    + (SELECT count(*) FROM collection_items WHERE account_id = ${accountId})
    + (SELECT count(*) FROM follows WHERE target_account_id = ${accountId})
    + (SELECT count(*) FROM follow_requests WHERE target_account_id = ${accountId})
    + (SELECT count(*) FROM notifications WHERE account_id = ${accountId}))::int AS count`
  return row?.count ?? 0
})
