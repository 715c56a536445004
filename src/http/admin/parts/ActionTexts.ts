import type { Messages } from "../../../services/languages/Messages.ts"
import type { ActionType, LastingType } from "../../../services/moderation/ActionTypes.ts"
import type { StrikeAction } from "../../../services/moderation/Strike.ts"

type Words = Pick<Messages, "say">
type About = (words: Words, name: string) => string

/** Names of strike actions. */
export const actionNames: Readonly<Record<StrikeAction, (words: Words) => string>> = {
  none: ({ say }) => say("Warning"),
  disable: ({ say }) => say("Frozen"),
  ["mark_statuses_as_sensitive"]: ({ say }) => say("Posts marked as sensitive"),
  ["delete_statuses"]: ({ say }) => say("Posts removed"),
  sensitive: ({ say }) => say("Media hidden"),
  silence: ({ say }) => say("Limited"),
  suspend: ({ say }) => say("Suspended")
}

/** Labels of the actions that a moderator can take. */
export const choices: Readonly<Record<ActionType, (words: Words) => string>> = {
  none: ({ say }) => say("Warn"),
  disable: ({ say }) => say("Freeze"),
  sensitive: ({ say }) => say("Hide media"),
  silence: ({ say }) => say("Limit"),
  suspend: ({ say }) => say("Suspend")
}

/** Effects of the actions, shown before they are taken. */
export const effects: Readonly<Record<ActionType, About>> = {
  none: ({ say }, name) => say("{name} is told what you write. Nothing else changes.", { name }),
  disable: ({ say }, name) =>
    say("{name} is signed out everywhere and cannot sign in. Profile and posts stay. It can be undone at any time.", {
      name
    }),
  sensitive: ({ say }, name) =>
    say("All pictures and videos of {name} are hidden behind a warning. It can be undone at any time.", { name }),
  silence: ({ say }, name) =>
    say("Posts of {name} are shown only to those who follow the account. It can be undone at any time.", { name }),
  suspend: ({ say }, name) =>
    say(
      "{name} is signed out, and neither profile nor posts are shown to anybody, here and, as far as they hear of it, on other servers. It can be undone for 30 days; then everything is deleted.",
      { name }
    )
}

/** Notices after an action. */
export const notices: Readonly<Record<ActionType, About>> = {
  none: ({ say }, name) => say("Done: {name} was warned.", { name }),
  disable: ({ say }, name) => say("Done: {name} is frozen.", { name }),
  sensitive: ({ say }, name) => say("Done: media of {name} are hidden behind a warning.", { name }),
  silence: ({ say }, name) => say("Done: {name} is limited.", { name }),
  suspend: ({ say }, name) => say("Done: {name} is suspended.", { name })
}

/** Buttons that lift an action, with their labels and notices. */
export const undoing: Readonly<
  Record<LastingType, { readonly act: string; readonly label: (words: Words) => string; readonly notice: About }>
> = {
  disable: {
    act: "enable",
    label: ({ say }) => say("Unfreeze"),
    notice: ({ say }, name) => say("Done: {name} can sign in again.", { name })
  },
  sensitive: {
    act: "unsensitive",
    label: ({ say }) => say("Show media again"),
    notice: ({ say }, name) => say("Done: media of {name} are shown as the author marked them.", { name })
  },
  silence: {
    act: "unsilence",
    label: ({ say }) => say("End the limit"),
    notice: ({ say }, name) => say("Done: {name} is not limited any more.", { name })
  },
  suspend: {
    act: "unsuspend",
    label: ({ say }) => say("End the suspension"),
    notice: ({ say }, name) => say("Done: {name} is back.", { name })
  }
}
