import { Effect } from "effect"
import * as Announcements from "./Announcements.ts"
import * as Approving from "./Approving.ts"
import * as Collecting from "./Collecting.ts"
import * as Drafting from "./Drafting.ts"
import * as Editing from "./Editing.ts"
import * as FeaturedTags from "./FeaturedTags.ts"
import * as Interactions from "./Interactions.ts"
import * as ModeratingStatuses from "./ModeratingStatuses.ts"
import * as Moderation from "./Moderation.ts"
import * as Moving from "./Moving.ts"
import type { Ownership } from "./Ownership.ts"
import * as Polling from "./Polling.ts"
import * as Profile from "./Profile.ts"
import * as Publishing from "./Publishing.ts"
import * as Purging from "./Purging.ts"
import * as Quoting from "./Quoting.ts"
import * as Reacting from "./Reacting.ts"
import * as Relations from "./Relations.ts"
import * as RemovingReplies from "./RemovingReplies.ts"
import * as Scheduling from "./Scheduling.ts"
import * as StoringFetched from "./StoringFetched.ts"
import * as TagFollowing from "./TagFollowing.ts"
import * as UserDomainBlocking from "./UserDomainBlocking.ts"
import type { Verbs } from "./Verbs.ts"

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
    ...featuring.verbs,
    ...(yield* TagFollowing.make).verbs,
    ...collecting.verbs
  }

  /** Handler of each kind of agenda entry. */
  const dues = {
    ["domain_block"]: domains.due,
    ["interaction_request"]: approving.due,
    ["mute_end"]: relations.muteEnd,
    ["poll_end"]: polling.due,
    ["poll_update"]: polling.tell,
    purge: (own: Ownership) => purging.due(own),
    ["scheduled_status"]: scheduling.due,
    ["suspension_end"]: purging.suspended
  } as const
  return { alone: publishing.alone, dues, verbs }
})
