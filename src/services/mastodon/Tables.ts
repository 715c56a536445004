import { Effect } from "effect"
import type { Step } from "./Step.ts"
import * as Accounts from "./tables/Accounts.ts"
import * as Cards from "./tables/Cards.ts"
import * as Edits from "./tables/Edits.ts"
import * as Emojis from "./tables/Emojis.ts"
import * as Instance from "./tables/Instance.ts"
import * as Keys from "./tables/Keys.ts"
import * as Media from "./tables/Media.ts"
import * as Members from "./tables/Members.ts"
import * as Moderation from "./tables/Moderation.ts"
import * as Notifications from "./tables/Notifications.ts"
import * as Publishers from "./tables/Publishers.ts"
import * as Push from "./tables/Push.ts"
import * as Quotes from "./tables/Quotes.ts"
import * as Relations from "./tables/Relations.ts"
import * as Rules from "./tables/Rules.ts"
import * as Scheduled from "./tables/Scheduled.ts"
import * as Statuses from "./tables/Statuses.ts"
import * as Tombstones from "./tables/Tombstones.ts"
import * as Users from "./tables/Users.ts"

/** Settings of a copy. */
interface Plan {
  /** Domain of handles, and origin of ids, as the Mastodon server has them. */
  readonly domain: string
  readonly publicUrl: string
  /** Age up to which all posts of other servers are copied, in days. */
  readonly days: number
  /** True if this server has the VAPID pair of the Mastodon server. */
  readonly keepsPush: boolean
  readonly decrypt: (message: string) => string | undefined
}

/** All steps of a copy, in the order in which rows refer to each other. */
export const steps = Effect.fnUntraced(function*(plan: Plan) {
  return [
    ...(yield* Accounts.make),
    ...Keys.make(plan.decrypt),
    ...(yield* Users.make(plan.decrypt)),
    ...(yield* Statuses.make(plan)),
    yield* Cards.make,
    yield* Cards.reviews,
    yield* Publishers.make,
    Quotes.make(plan.publicUrl),
    yield* Edits.make,
    Tombstones.step,
    Emojis.remoteEmoji,
    ...(yield* Media.make),
    // After the files that the posts attach.
    Scheduled.step,
    ...Relations.steps,
    ...Members.steps,
    ...Rules.steps,
    ...(yield* Instance.make),
    ...Moderation.steps,
    ...Notifications.steps,
    ...(plan.keepsPush ? [yield* Push.make] : [])
  ] satisfies ReadonlyArray<Step>
})

/** Data that is not copied, with the alternative for operators and members. */
export const notCopied: ReadonlyArray<readonly [what: string, instead: string]> = [
  ["queues of Sidekiq", "stop the old web server, and let Sidekiq drain before the last delta"],
  ["sessions of browsers", "members sign in again in the browser; apps stay signed in"],
  ["files of other servers", "fetched again from there"],
  ["sign-in by LDAP, PAM, CAS, SAML or OpenID Connect", "members set a password by e-mail"],
  ["recovery codes of two-factor sign-in", "members make new ones in their settings"],
  ["push notifications of browsers", "members turn them on again"],
  ["notifications of more than 30 days, or of what is not copied", "new ones arrive"],
  ["pictures of preview cards", "fetched again when the link is posted again"],
  ["the audit log of staff", "keep a copy of the database"],
  [
    "pictures, theme and CSS of the server, and settings that this server does not have",
    "set them before the server opens"
  ],
  ["collections", "members add them again"],
  [
    "follows lost to blocks of servers, earlier moves, and e-mail subscriptions to accounts",
    "gone; followers by e-mail subscribe again"
  ],
  ["accounts whose deletion was requested", "delete them at Mastodon before the copy"],
  ["auxiliary services (FASP), sign-in history, servers that were unavailable", "set up again; noted again"],
  ["settings of the web client", "members choose them again"],
  ["trends, suggestions, annual reports, backups, imports", "computed again, or gone"]
]
