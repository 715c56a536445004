import { portability } from "../../services/oauth/Scopes.ts"

/** An app's access to one kind of data, as the consent page shows it. */
interface ScopeGroup {
  readonly title: string
  /** Undefined for kinds that are neither read nor written. */
  readonly access: "Read-only" | "Write-only" | "Read and write" | undefined
  readonly texts: ReadonlyArray<string>
  /** True if it reaches beyond the user's own account, or is unusual for ordinary apps. */
  readonly dangerous: boolean
}

/** Texts of the scopes, by kind of data; scopes that name a kind without a verb, such as `follow`, grant both. */
const kinds: Readonly<Record<string, { readonly title: string; readonly read?: string; readonly write?: string }>> = {
  all: {
    title: "Everything in your account",
    read: "Read all of your account: posts, messages, notifications, settings",
    write: "Change all of your account: post, follow, delete and edit in your name"
  },
  profile: { title: "Your profile", read: "See your name, your handle and your picture" },
  accounts: {
    title: "Accounts",
    read: "See accounts, yours included",
    write: "Change your profile and your notes about others"
  },
  blocks: { title: "Blocks", read: "See whom you block", write: "Block and unblock accounts and servers" },
  bookmarks: { title: "Bookmarks", read: "See your bookmarks", write: "Bookmark posts" },
  collections: { title: "Collections", read: "See your collections", write: "Create and change collections" },
  conversations: { title: "Conversations", write: "Mute and delete conversations" },
  favourites: { title: "Favourites", read: "See your favourites", write: "Favourite posts" },
  filters: { title: "Filters", read: "See your filters", write: "Create and change filters" },
  follow: {
    title: "Follows, mutes and blocks",
    read: "See whom you follow, mute and block",
    write: "Follow, mute and block accounts in your name"
  },
  follows: { title: "Follows", read: "See whom you follow", write: "Follow accounts in your name" },
  lists: { title: "Lists", read: "See your lists", write: "Create and change lists" },
  media: { title: "Media", write: "Upload images, audio and video" },
  mutes: { title: "Mutes", read: "See whom you mute", write: "Mute people and conversations" },
  notifications: { title: "Notifications", read: "See your notifications", write: "Clear your notifications" },
  reports: { title: "Reports", write: "Report other people to the moderators" },
  search: { title: "Search", read: "Search on your behalf" },
  statuses: { title: "Posts", read: "See all posts you have access to", write: "Publish, edit and delete posts" },
  push: { title: "Push notifications", read: "Receive your notifications on a device" },
  crypto: { title: "End-to-end encryption", read: "Use end-to-end encrypted messages", write: "Register devices" },
  [portability]: {
    title: "Copy of your account",
    read:
      "Copy your posts to another server, with private posts and direct messages, and see whom you follow and block and what you favourite. Your followers are not copied, and nothing changes here."
  },
  "admin/all": {
    title: "Administration: everything",
    read: "Read all non-public data on the server",
    write: "Change all data on the server"
  },
  "admin/accounts": {
    title: "Administration: accounts",
    read: "See private details of all accounts",
    write: "Moderate accounts"
  },
  "admin/reports": { title: "Administration: reports", read: "See all reports", write: "Act on reports" },
  "admin/domain_allows": {
    title: "Administration: allowed servers",
    read: "See allowed servers",
    write: "Allow servers"
  },
  "admin/domain_blocks": {
    title: "Administration: blocked servers",
    read: "See blocked servers",
    write: "Block servers"
  },
  "admin/ip_blocks": {
    title: "Administration: IP addresses",
    read: "See blocked IP addresses",
    write: "Block IP addresses"
  },
  "admin/email_domain_blocks": {
    title: "Administration: email domains",
    read: "See blocked email domains",
    write: "Block email domains"
  },
  "admin/canonical_email_blocks": {
    title: "Administration: email addresses",
    read: "See blocked email addresses",
    write: "Block email addresses"
  }
}

/** Kinds without verbs: their one text says all that they grant. */
const verbless = new Set(["push", portability])

/** Kinds that no ordinary app requests: their bearer can pose as another device of the user, or copy the account. */
const unusual = new Set(["crypto", portability])

/**
 * Parses a scope: `admin:read:accounts` means reading `admin/accounts`; a scope without a verb grants everything of its
 * kind.
 */
const parse = (scope: string): { readonly kind: string; readonly verb: "read" | "write" | undefined } => {
  const match = /^(admin:)?(read|write)(?::(\w+))?$/.exec(scope)
  if (match === null) return { kind: scope, verb: undefined }
  const [, admin, verb, noun = "all"] = match
  return { kind: admin === undefined ? noun : `admin/${noun}`, verb: verb === "read" ? "read" : "write" }
}

/** Groups scopes in the order in which the consent page shows them. */
export const group = (scopes: ReadonlyArray<string>): ReadonlyArray<ScopeGroup> => {
  const verbs = new Map<string, Set<"read" | "write">>()
  for (const { kind, verb } of scopes.map(parse)) {
    const known = kinds[kind]
    const granted = verbs.get(kind) ?? new Set()
    if (known?.read !== undefined && verb !== "write") granted.add("read")
    if (known?.write !== undefined && verb !== "read") granted.add("write")
    verbs.set(kind, granted)
  }
  return Object.entries(kinds).flatMap(([kind, { read, title, write }]) => {
    const granted = verbs.get(kind)
    if (granted === undefined) return []
    const [reads, writes] = [granted.has("read"), granted.has("write")]
    return {
      title,
      access: verbless.has(kind) ? undefined : reads && writes ? "Read and write" : writes ? "Write-only" : "Read-only",
      texts: [reads ? read : undefined, writes ? write : undefined].filter((text) => text !== undefined),
      dangerous: kind.startsWith("admin/") || unusual.has(kind)
    } satisfies ScopeGroup
  })
}
