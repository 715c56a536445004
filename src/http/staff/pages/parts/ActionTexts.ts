import type { Messages } from "../../../../services/languages/Messages.ts"
import type { ActionType, LastingType } from "../../../../services/moderation/ActionTypes.ts"
import type { StrikeAction } from "../../../../services/moderation/Strike.ts"

type Words = Pick<Messages, "say">
type TextFor = (words: Words, name: string) => string

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
export const effects: Readonly<Record<ActionType, TextFor>> = {
  none: ({ say }, name) => say("{name} receives your message. Nothing else changes.", { name }),
  disable: ({ say }, name) =>
    say(
      "{name} is signed out everywhere and cannot sign in. Profile and posts remain. You can undo this at any time.",
      {
        name
      }
    ),
  sensitive: ({ say }, name) =>
    say("All media of {name} are hidden behind a warning. You can undo this at any time.", { name }),
  silence: ({ say }, name) =>
    say("Posts of {name} are shown only to followers. You can undo this at any time.", { name }),
  suspend: ({ say }, name) =>
    say(
      "{name} is signed out, and profile and posts are hidden here and on other servers that receive the notice. You can undo this for 30 days; then all data is deleted.",
      { name }
    )
}

/** Notices after an action. */
export const resultTexts: Readonly<Record<ActionType, TextFor>> = {
  none: ({ say }, name) => say("{name} was warned.", { name }),
  disable: ({ say }, name) => say("{name} was frozen.", { name }),
  sensitive: ({ say }, name) => say("Media of {name} are now hidden behind a warning.", { name }),
  silence: ({ say }, name) => say("{name} was limited.", { name }),
  suspend: ({ say }, name) => say("{name} was suspended.", { name })
}

/** Buttons that lift an action, with their labels and notices. */
export const liftButtons: Readonly<
  Record<LastingType, { readonly act: string; readonly label: (words: Words) => string; readonly notice: TextFor }>
> = {
  disable: {
    act: "enable",
    label: ({ say }) => say("Unfreeze"),
    notice: ({ say }, name) => say("{name} can sign in again.", { name })
  },
  sensitive: {
    act: "unsensitive",
    label: ({ say }) => say("Show media again"),
    notice: ({ say }, name) => say("Media of {name} are shown as the author marked them.", { name })
  },
  silence: {
    act: "unsilence",
    label: ({ say }) => say("Remove limit"),
    notice: ({ say }, name) => say("{name} is no longer limited.", { name })
  },
  suspend: {
    act: "unsuspend",
    label: ({ say }) => say("Lift suspension"),
    notice: ({ say }, name) => say("{name} is no longer suspended.", { name })
  }
}
