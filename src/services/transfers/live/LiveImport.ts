import { Schema } from "effect"
import { ArchiveImport, emptyPlan } from "../archives/ArchiveImport.ts"
import { linesMax } from "../ImportLine.ts"

/** Server of the old account: its actor, its OAuth endpoints, and this server's client there. */
const LiveSource = Schema.Struct({
  /** Id of the actor, which may be another one once the user has chosen the account there. */
  actor: Schema.String,
  authorizationEndpoint: Schema.String,
  tokenEndpoint: Schema.String,
  clientId: Schema.String
})
export type LiveSource = typeof LiveSource.Type

/** Options of an import of an account from its server. */
export const LiveImport = Schema.Struct({
  /** Address that the owner gave: a handle or a URL. */
  address: Schema.String,
  source: Schema.NullOr(LiveSource),
  owner: ArchiveImport.fields.owner,
  plan: ArchiveImport.fields.plan,
  /** Accounts that are followed and blocked there. */
  following: Schema.Int,
  blocked: Schema.Int,
  /** Posts that are favourited there; absent in imports that an older version began. */
  liked: Schema.optionalKey(Schema.Int),
  /** Choices of the owner when confirming the plan. */
  confirmed: Schema.Boolean,
  withFollows: Schema.Boolean,
  withBlocks: Schema.Boolean,
  withLikes: Schema.optionalKey(Schema.Boolean),
  /** Sealed `LiveSecrets`; absent once the import has ended. */
  secrets: Schema.optionalKey(Schema.String)
})
export type LiveImport = typeof LiveImport.Type
export const decodeLiveImport = Schema.decodeUnknownEffect(LiveImport)

export const newLiveImport = (address: string): LiveImport => ({
  address,
  source: null,
  owner: null,
  plan: emptyPlan,
  following: 0,
  blocked: 0,
  confirmed: false,
  withFollows: false,
  withBlocks: false
})

/** Secrets of an import: those of the authorization request, then the code, then the token. */
export const LiveSecrets = Schema.Struct({
  state: Schema.String,
  /** Verifier of PKCE. */
  verifier: Schema.String,
  clientSecret: Schema.NullOr(Schema.String),
  code: Schema.optionalKey(Schema.String),
  token: Schema.optionalKey(Schema.String)
})
export type LiveSecrets = typeof LiveSecrets.Type

/**
 * Place of the next step. `discover`: finds the OAuth endpoints; `authorize`: waits for the owner's consent at the other
 * server; `actor` to `blocked`: reads the collections, page by page; `plan`: counts the posts; `planned`: waits for the
 * owner, then imports; `lists`: begins the imports of follows and blocks.
 */
export const LiveCursor = Schema.Struct({
  phase: Schema.Literals([
    "discover",
    "authorize",
    "actor",
    "posts",
    "following",
    "blocked",
    "liked",
    "plan",
    "planned",
    "lists"
  ]),
  /** URLs of the collections. */
  posts: Schema.NullOr(Schema.String),
  following: Schema.NullOr(Schema.String),
  blocked: Schema.NullOr(Schema.String),
  liked: Schema.optionalKey(Schema.NullOr(Schema.String)),
  /** Next page of the current collection; null before the first one. */
  page: Schema.NullOr(Schema.String),
  /** Pages and items that were read, and bytes of the items. */
  pages: Schema.Int,
  items: Schema.Int,
  bytes: Schema.Number,
  /** Requests in a row that failed for now. */
  failures: Schema.Int,
  after: Schema.NullOr(Schema.Struct({ millis: Schema.Number, place: Schema.Int }))
})
export type LiveCursor = typeof LiveCursor.Type
export const decodeLiveCursor = Schema.decodeUnknownEffect(LiveCursor)
export const firstLiveCursor: LiveCursor = {
  phase: "discover",
  posts: null,
  following: null,
  blocked: null,
  page: null,
  pages: 0,
  items: 0,
  bytes: 0,
  failures: 0,
  after: null
}

/** First places of the lines of follows, of blocks and of favourites among those of the import. */
export const firstPlaces = { following: 0, blocked: linesMax, liked: 2 * linesMax } as const

/**
 * Reasons for the failure of an import: no such account, a server without this protocol, consent that was refused or
 * ended, a server that did not respond for long, and collections that cannot be read or are too large.
 */
export const LiveProblem = Schema.Literals([
  "no_account",
  "not_supported",
  "no_consent",
  "silent",
  "unreadable_source",
  "too_many_posts"
])
export type LiveProblem = typeof LiveProblem.Type
export const isLiveProblem = Schema.is(LiveProblem)
