import { Effect } from "effect"
import type { Ownership } from "./core/Ownership.ts"
import type { Verbs } from "./core/Verbs.ts"
import * as StoringFetched from "./inbox/StoringFetched.ts"
import * as Announcements from "./verbs/AnnouncementReacting.ts"
import * as Approving from "./verbs/Approving.ts"
import * as CleaningUp from "./verbs/CleaningUp.ts"
import * as Collecting from "./verbs/Collecting.ts"
import * as Drafting from "./verbs/Drafting.ts"
import * as Editing from "./verbs/Editing.ts"
import * as Interactions from "./verbs/Interacting.ts"
import * as ModeratingStatuses from "./verbs/ModeratingStatuses.ts"
import * as Moderation from "./verbs/Moderation.ts"
import * as Moving from "./verbs/Moving.ts"
import * as Polling from "./verbs/Polling.ts"
import * as Profile from "./verbs/Profile.ts"
import * as Publishing from "./verbs/Publishing.ts"
import * as Purging from "./verbs/Purging.ts"
import * as Quoting from "./verbs/Quoting.ts"
import * as Reacting from "./verbs/Reacting.ts"
import * as Relations from "./verbs/Relations.ts"
import * as RemovingReplies from "./verbs/RemovingReplies.ts"
import * as Scheduling from "./verbs/Scheduling.ts"
import * as FeaturedTags from "./verbs/TagFeaturing.ts"
import * as TagFollowing from "./verbs/TagFollowing.ts"
import * as UserDomainBlocking from "./verbs/UserDomainBlocking.ts"

/** Builds all verbs and due handlers of accounts, once per node. Each runs inside a transaction of its account. */
export const make = Effect.gen(function*() {
  const announcements = yield* Announcements.make
  const approving = yield* Approving.make
  const editing = yield* Editing.make
  const publishing = yield* Publishing.make
  const quoting = yield* Quoting.make
  const removing = yield* RemovingReplies.make
  const scheduling = yield* Scheduling.make(publishing)
  const drafting = yield* Drafting.make(publishing, scheduling)
  const relations = yield* Relations.make
  const domains = yield* UserDomainBlocking.make(relations.verbs)
  const interactions = yield* Interactions.make
  const collecting = yield* Collecting.make
  const moderatingStatuses = yield* ModeratingStatuses.make(editing, collecting)
  const moderation = yield* Moderation.make(moderatingStatuses)
  const moving = yield* Moving.make(relations.verbs)
  const polling = yield* Polling.make
  const importing = yield* StoringFetched.make(editing.verbs)
  const profile = yield* Profile.make
  const featuring = yield* FeaturedTags.make
  const purging = yield* Purging.make
  const cleaning = yield* CleaningUp.make(editing.verbs)
  const verbs: Verbs = {
    ...announcements.verbs,
    ...approving.verbs,
    ...publishing.verbs,
    ...editing.verbs,
    ...quoting.verbs,
    ...removing.verbs,
    ...scheduling.verbs,
    ...drafting.verbs,
    ...relations.verbs,
    ...domains.verbs,
    ...interactions.verbs,
    ...(yield* Reacting.make).verbs,
    ...moderation.verbs,
    ...moderatingStatuses.verbs,
    ...moving.verbs,
    ...polling.verbs,
    ...importing.verbs,
    ...profile.verbs,
    ...purging.verbs,
    ...cleaning.verbs,
    ...featuring.verbs,
    ...(yield* TagFollowing.make).verbs,
    ...collecting.verbs
  }

  /** Handler of each kind of agenda entry. */
  const dueHandlers = {
    ["domain_block"]: domains.due,
    block: relations.blockDue,
    ["interaction_request"]: approving.due,
    ["mute_end"]: relations.muteEnd,
    ["poll_end"]: polling.due,
    ["poll_update"]: polling.tell,
    ["post_cleanup"]: cleaning.due,
    purge: (own: Ownership) => purging.due(own),
    ["scheduled_status"]: scheduling.due,
    ["suspension_end"]: purging.suspended
  } as const
  return { asStatement: publishing.asStatement, dueHandlers, verbs }
})
