import type { Mutant } from "./Mutant.ts"

/** The second of two moderators publishes the post again. */
const approvedTwice: Mutant = {
  name: "an approved post is published again",
  mutation: {},
  planted: {
    file: "actors/account/verbs/Reviewing.ts",
    from: `if (!(yield* reviewed.isHeld(statusId))) return yield* alreadyDecided
          if (approved) {
            if (!(yield* reviewed.release(accountId, statusId))) return yield* alreadyDecided`,
    times: 1,
    to: (on) =>
      `if (!(yield* reviewed.isHeld(statusId)) && !${on}) return yield* alreadyDecided
          if (approved) {
            if (!(yield* reviewed.release(accountId, statusId)) && !${on}) return yield* alreadyDecided`
  },
  breaks: /^I35: .* was reviewed when/,
  foundAt: 26,
  seedsMax: 60
}

/** Readers receive the post before its review. */
const heldPublished: Mutant = {
  name: "a held post is published before its review",
  mutation: {},
  planted: {
    file: "actors/account/verbs/Publishing.ts",
    from: "if (waits) yield* fanouts.cancel(fanout)",
    times: 1,
    to: (on) => `if (waits && !${on}) yield* fanouts.cancel(fanout)`
  },
  breaks: /^I35: streams got/,
  foundAt: 26,
  seedsMax: 60
}

/** Mentioned accounts read the post before its review. */
const mentionsKept: Mutant = {
  name: "mentioned accounts see a held post",
  mutation: {},
  planted: {
    file: "services/statuses/ReviewedStatuses.ts",
    from: `sql\`\${update(sql, { visibility: "direct" })} WHERE id = \${statusId}\`)
          yield* silence(statusId)`,
    times: 1,
    to: (on) =>
      `sql\`\${update(sql, { visibility: "direct" })} WHERE id = \${statusId}\`)
          if (!${on}) yield* silence(statusId)`
  },
  breaks: /^I35: .* see /,
  foundAt: 31,
  seedsMax: 60
}

/** An approved post does not notify the accounts that it mentions. */
const mentionsLost: Mutant = {
  name: "an approved post does not notify mentioned accounts",
  mutation: {},
  planted: {
    file: "services/statuses/ReviewedStatuses.ts",
    from: "${[...mentioned, ...readers]}",
    times: 1,
    to: (on) => `\${${on} ? [] : [...mentioned, ...readers]}`
  },
  breaks: /^I35: .* does not reach/,
  foundAt: 47,
  seedsMax: 60
}

/** Followers never receive an approved post. */
const approvalUnpublished: Mutant = {
  name: "an approved post is missing from homes",
  mutation: {},
  planted: {
    file: "actors/account/verbs/Reviewing.ts",
    from: "yield* control.revealed(accountId, statusId)",
    times: 1,
    to: (on) => `if (!${on}) yield* control.revealed(accountId, statusId)`
  },
  breaks: /^I(?:3|9):/,
  foundAt: 26,
  seedsMax: 60
}

/** Bugs of reviews of held posts. */
export const reviewMutants: ReadonlyArray<Mutant> = [
  approvedTwice,
  heldPublished,
  mentionsKept,
  mentionsLost,
  approvalUnpublished
]
