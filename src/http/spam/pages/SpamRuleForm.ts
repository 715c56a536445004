import { Effect } from "effect"
import type { Messages } from "../../../services/languages/Messages.ts"
import { type Unprocessable, validationFailed } from "../../../services/runtime/Errors.ts"
import { listNames, numberNames } from "../../../services/spam/ConditionChecks.ts"
import { type Lookalike, nameCharactersMax, type RuleAction, type SpamRule } from "../../../services/spam/SpamRule.ts"
import { type Html, html } from "../../html/Html.ts"
import { button, checkbox, form, select, textArea, textField } from "../../staff/pages/parts/Controls.ts"
import { section } from "../../staff/pages/parts/Texts.ts"
import type { Visit } from "../../staff/pages/StaffVisit.ts"

/** Path of the list of spam rules. */
export const spamRulesPath = "/admin/spam_rules"

type Named = (words: Messages) => string
type Names<Key extends string> = Readonly<Record<Key, Named>>

/** Labels of rule states. */
export const stateNames: Names<SpamRule["state"]> = {
  off: ({ say }) => say("Disabled"),
  dry: ({ say }) => say("Counting only"),
  on: ({ say }) => say("Enabled")
}

/** Labels of rule actions. */
export const spamActionNames: Names<RuleAction> = {
  pass: ({ say }) => say("Accept and skip later rules"),
  score: ({ say }) => say("Add to the author's score"),
  report: ({ say }) => say("Report the author"),
  limit: ({ say }) => say("Limit the author"),
  hold: ({ say }) => say("Hold the post for review"),
  drop: ({ say }) => say("Reject the post")
}

type ListName = (typeof listNames)[number]
type NumberName = (typeof numberNames)[number]

const listTexts: Names<ListName> = {
  textContains: ({ say }) => say("The text contains one of these"),
  textWords: ({ say }) => say("The text contains one of these as whole words"),
  linkDomains: ({ say }) => say("Links to one of these domains"),
  domains: ({ say }) => say("The author is on one of these servers"),
  avatarAccounts: ({ say }) => say("The picture looks like that of one of these accounts")
}

const numberTexts: Names<NumberName> = {
  linksMin: ({ say }) => say("Minimum number of links"),
  mentionsMin: ({ say }) => say("Minimum number of mentions"),
  strangersMin: ({ say }) => say("Minimum number of mentioned people who do not follow the author"),
  accountHoursMax: ({ say }) => say("Maximum age of the account, in hours"),
  statusesMax: ({ say }) => say("Maximum posts of the author"),
  followersMax: ({ say }) => say("Maximum followers of the author"),
  hourlyPostsMin: ({ say }) => say("Minimum posts of the author in the last hour"),
  sameTextAccountsMin: ({ say }) => say("Minimum number of other authors of the same text within a day"),
  hourlyBoostsMin: ({ say }) =>
    say("Minimum boosts by the author in the last hour; such a rule applies only to boosts"),
  sameBoostAccountsMin: ({ say }) =>
    say("Minimum number of others who boosted the same post within a day; such a rule applies only to boosts"),
  scoreMin: ({ say }) => say("Minimum score of the author"),
  domainScoreMin: ({ say }) => say("Minimum score of the author's server")
}

const lookAlikeTexts: Names<Lookalike> = {
  staff: ({ say }) => say("The name looks like a staff member's"),
  local: ({ say }) => say("The name looks like a local user's"),
  followed: ({ say }) => say("The name looks like a popular account's")
}
const avatarTexts: Names<Lookalike> = {
  staff: ({ say }) => say("The picture looks like a staff member's"),
  local: ({ say }) => say("The picture looks like a local user's"),
  followed: ({ say }) => say("The picture looks like a popular account's")
}
const lookalikes = ["staff", "local", "followed"] as const

/** Returns the field name of a condition, as in the API. */
const fieldOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const choicesOf = <Key extends string>(words: Messages, names: Names<Key>, keys: ReadonlyArray<Key>) =>
  keys.map((key): readonly [string, string] => [key, names[key](words)])

/** Form of a spam rule; a new one if `rule` is undefined. */
export const spamRuleForm = (visit: Visit, act: string, rule?: SpamRule): Html => {
  const { words: { say }, words } = visit
  const conditions = rule?.conditions ?? {}
  return form(
    visit,
    html`${
      section(
        say("Rule"),
        html`${
          textField(visit, {
            name: "name",
            label: say("Name"),
            hint: say("Shown in the report, to moderators only."),
            value: rule?.name ?? "",
            max: nameCharactersMax,
            required: true
          })
        }${
          select(visit, {
            name: "state",
            label: say("State"),
            hint: say("A rule that only counts does nothing else."),
            value: rule?.state ?? "off",
            choices: choicesOf(words, stateNames, ["off", "dry", "on"])
          })
        }${
          select(visit, {
            name: "action",
            label: say("Action"),
            value: rule?.action ?? "report",
            choices: choicesOf(words, spamActionNames, ["pass", "score", "report", "limit", "hold", "drop"])
          })
        }${
          textField(visit, {
            name: "score",
            type: "number",
            label: say("Points to add"),
            hint: say("Scores halve every week."),
            value: String(rule?.score ?? 1)
          })
        }`
      )
    }${
      section(
        say("Conditions"),
        html`<p class="soft">${
          say("All filled-in conditions must match; in a list, one line is enough. Empty fields are ignored.")
        }</p>${
          listNames.map((name) =>
            textArea(visit, {
              name: fieldOf(name),
              label: listTexts[name](words),
              hint: say("One per line."),
              value: conditions[name]?.join("\n") ?? "",
              rows: 3
            })
          )
        }${
          select(visit, {
            name: "origin",
            label: say("Location of the author"),
            value: conditions.origin ?? "",
            choices: [["", say("Anywhere")], ["local", say("This server")], ["remote", say("Other servers")]]
          })
        }${
          numberNames.map((name) =>
            textField(visit, {
              name: fieldOf(name),
              type: "number",
              label: numberTexts[name](words),
              value: String(conditions[name] ?? "")
            })
          )
        }${
          lookalikes.map((name) =>
            checkbox(visit, {
              name: "look_alike[]",
              value: name,
              label: lookAlikeTexts[name](words),
              checked: conditions.lookAlike?.includes(name) === true
            })
          )
        }${
          lookalikes.map((name) =>
            checkbox(visit, {
              name: "avatar_alike[]",
              value: name,
              label: avatarTexts[name](words),
              checked: conditions.avatarAlike?.includes(name) === true
            })
          )
        }`
      )
    }${button(act, say("Save"), "main")}`
  )
}

/** Parses a whole number; undefined if the field is empty. */
export const figureIn = (
  text: string | null,
  refusal: string
): Effect.Effect<number | undefined, Unprocessable> => {
  const written = text?.trim() ?? ""
  if (written === "") return Effect.undefined
  return /^-?\d{1,7}$/.test(written) ? Effect.succeed(Number(written)) : validationFailed(refusal)
}

/** Returns the rule in the form, as it was sent; invalid numbers are refused. */
export const spamRuleIn = Effect.fnUntraced(function*({ form: sent }: Visit) {
  const numbers = yield* Effect.forEach(numberNames, (name) =>
    Effect.map(
      figureIn(sent.get(fieldOf(name)), "Conditions is invalid"),
      (number) => [name, number] as const
    ))
  return {
    name: sent.get("name") ?? "",
    state: sent.get("state") ?? undefined,
    action: sent.get("action") ?? undefined,
    score: yield* figureIn(sent.get("score"), "Score is not included in the list"),
    conditions: {
      lists: Object.fromEntries(listNames.map((name) => [name, (sent.get(fieldOf(name)) ?? "").split(/[\r\n]+/)])),
      numbers: Object.fromEntries(numbers),
      origin: sent.get("origin") ?? undefined,
      lookAlike: sent.getAll("look_alike"),
      avatarAlike: sent.getAll("avatar_alike")
    }
  }
})
