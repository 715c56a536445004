import { Effect } from "effect"
import type { Step } from "./Step.ts"
import * as AccountSteps from "./tables/AccountSteps.ts"
import * as CardSteps from "./tables/CardSteps.ts"
import * as EditSteps from "./tables/EditSteps.ts"
import * as EmojiSteps from "./tables/EmojiSteps.ts"
import * as InstanceSteps from "./tables/InstanceSteps.ts"
import * as KeySteps from "./tables/KeySteps.ts"
import * as MediaCopy from "./tables/MediaCopy.ts"
import * as MemberSteps from "./tables/MemberSteps.ts"
import * as ModerationSteps from "./tables/ModerationSteps.ts"
import * as NotificationSteps from "./tables/NotificationSteps.ts"
import * as PublisherSteps from "./tables/PublisherSteps.ts"
import * as PushSteps from "./tables/PushSteps.ts"
import * as QuoteSteps from "./tables/QuoteSteps.ts"
import * as RelationSteps from "./tables/RelationSteps.ts"
import * as RuleSteps from "./tables/RuleSteps.ts"
import * as ScheduledSteps from "./tables/ScheduledSteps.ts"
import * as StatusSteps from "./tables/StatusSteps.ts"
import * as TombstoneSteps from "./tables/TombstoneSteps.ts"
import * as UserSteps from "./tables/UserSteps.ts"

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
    ...(yield* AccountSteps.make),
    ...KeySteps.make(plan.decrypt),
    ...(yield* UserSteps.make(plan.decrypt)),
    ...(yield* StatusSteps.make(plan)),
    yield* CardSteps.make,
    yield* CardSteps.reviews,
    yield* PublisherSteps.make,
    QuoteSteps.make(plan.publicUrl),
    yield* EditSteps.make,
    TombstoneSteps.step,
    EmojiSteps.remoteEmoji,
    ...(yield* MediaCopy.make),
    // After the files that the posts attach.
    ScheduledSteps.step,
    ...RelationSteps.steps,
    ...MemberSteps.steps,
    ...RuleSteps.steps,
    ...(yield* InstanceSteps.make),
    ...ModerationSteps.steps,
    ...NotificationSteps.steps,
    ...(plan.keepsPush ? [yield* PushSteps.make] : [])
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
