/** Scope that lets another server copy the user's account (LOLA 0.2). No other scope includes it. */
export const portability = "activitypub_account_portability"

/** Scopes by their parent, which includes them all (auth.md section 4). `follow` is deprecated since Mastodon 3.5. */
const children: Readonly<Record<string, ReadonlyArray<string>>> = {
  profile: [],
  read: [
    "read:accounts",
    "read:blocks",
    "read:bookmarks",
    "read:collections",
    "read:favourites",
    "read:filters",
    "read:follows",
    "read:lists",
    "read:mutes",
    "read:notifications",
    "read:search",
    "read:statuses"
  ],
  write: [
    "write:accounts",
    "write:blocks",
    "write:bookmarks",
    "write:collections",
    "write:conversations",
    "write:favourites",
    "write:filters",
    "write:follows",
    "write:lists",
    "write:media",
    "write:mutes",
    "write:notifications",
    "write:reports",
    "write:statuses"
  ],
  follow: ["read:blocks", "write:blocks", "read:follows", "write:follows", "read:mutes", "write:mutes"],
  push: [],
  "admin:read": [
    "admin:read:accounts",
    "admin:read:reports",
    "admin:read:domain_allows",
    "admin:read:domain_blocks",
    "admin:read:ip_blocks",
    "admin:read:email_domain_blocks",
    "admin:read:canonical_email_blocks"
  ],
  "admin:write": [
    "admin:write:accounts",
    "admin:write:reports",
    "admin:write:domain_allows",
    "admin:write:domain_blocks",
    "admin:write:ip_blocks",
    "admin:write:email_domain_blocks",
    "admin:write:canonical_email_blocks"
  ],
  crypto: [],
  [portability]: []
}

const parents: ReadonlyMap<string, ReadonlyArray<string>> = Object.entries(children).reduce(
  (found, [parent, scopes]) => {
    for (const scope of scopes) found.set(scope, [...(found.get(scope) ?? []), parent])
    return found
  },
  new Map<string, Array<string>>()
)

/** Scopes of an app that requests none. */
export const defaultScopes: ReadonlyArray<string> = ["read"]

/** All scopes, parents before their children. */
export const all: ReadonlyArray<string> = [
  ...new Set(Object.entries(children).flatMap(([parent, scopes]) => [parent].concat(scopes)))
]
const known = new Set(all)

/** Maximum scopes of a text that are read; the rest is ignored. */
const scopesMax = 1_000

/** Parses scopes that are separated by spaces, without duplicates. */
export const parse = (written: string): ReadonlyArray<string> => [
  ...new Set(written.split(/\s+/, scopesMax).filter(Boolean))
]

export const format = (scopes: Iterable<string>): string => [...scopes].join(" ")

export const areKnown = (scopes: ReadonlyArray<string>): boolean => scopes.every((scope) => known.has(scope))

/** Returns true if `have` includes one of `needAny`, itself or a parent. */
export const grants = (have: ReadonlySet<string>, needAny: ReadonlyArray<string>): boolean =>
  needAny.some((scope) => have.has(scope) || (parents.get(scope)?.some((parent) => have.has(parent)) ?? false))

/**
 * Returns true if an app may request `requested`: a literal subset of its registered scopes, so `read` does not cover
 * `read:accounts`.
 */
export const withinRegistered = (registered: ReadonlyArray<string>, requested: ReadonlyArray<string>): boolean =>
  requested.length > 0 && requested.every((scope) => registered.includes(scope))
