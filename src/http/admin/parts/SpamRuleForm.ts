import { Effect } from "effect"
import { type Unprocessable, validationFailed } from "../../../services/Errors.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import { listNames, numberNames } from "../../../services/spam/ConditionChecks.ts"
import { type Lookalike, nameCharactersMax, type RuleAction, type SpamRule } from "../../../services/spam/SpamRule.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "../Visit.ts"
import { button, checkbox, form, select, textArea, textField } from "./Controls.ts"
import { section } from "./Texts.ts"

/** Path of the list of spam rules. */
export const spamRulesPath = "/admin/spam_rules"

type Named = (words: Messages) => string
type Names<Key extends string> = Readonly<Record<Key, Named>>

/** Labels of rule states. */
export const stateNames: Names<SpamRule["state"]> = {
  off: ({ say }) => say("Switched off"),
  dry: ({ say }) => say("Only counts"),
  on: ({ say }) => say("Switched on")
}

/** Labels of rule actions. */
export const spamActionNames: Names<RuleAction> = {
  pass: ({ say }) => say("Let it through, whatever later rules say"),
  score: ({ say }) => say("Add to the score of the author"),
  report: ({ say }) => say("Report the author"),
  limit: ({ say }) => say("Limit the author"),
  hold: ({ say }) => say("Hold the post until a moderator looks at it"),
  drop: ({ say }) => say("Do not take the post")
}

type ListName = (typeof listNames)[number]
type NumberName = (typeof numberNames)[number]

const listTexts: Names<ListName> = {
  textContains: ({ say }) => say("The text has one of these anywhere"),
  textWords: ({ say }) => say("The text has one of these as whole words"),
  linkDomains: ({ say }) => say("A link leads to one of these domains"),
  domains: ({ say }) => say("The author is on one of these servers"),
  avatarAccounts: ({ say }) => say("The picture looks like that of one of these accounts")
}

const numberTexts: Names<NumberName> = {
  linksMin: ({ say }) => say("Links, at least"),
  mentionsMin: ({ say }) => say("People mentioned, at least"),
  strangersMin: ({ say }) => say("Of these, who do not follow the author, at least"),
  accountHoursMax: ({ say }) => say("Age of the account in hours, at most"),
  statusesMax: ({ say }) => say("Posts of the author, at most"),
  followersMax: ({ say }) => say("Followers of the author, at most"),
  hourlyPostsMin: ({ say }) => say("Posts of the author in the last hour, at least"),
  sameTextAccountsMin: ({ say }) => say("Others who said the same within a day, at least"),
  hourlyBoostsMin: ({ say }) =>
    say("Boosts of the author in the last hour, at least; such a rule is about boosts alone"),
  sameBoostAccountsMin: ({ say }) =>
    say("Others who boosted the same post within a day, at least; such a rule is about boosts alone"),
  scoreMin: ({ say }) => say("Score of the author, at least"),
  domainScoreMin: ({ say }) => say("Score of the author's server, at least")
}

const lookAlikeTexts: Names<Lookalike> = {
  staff: ({ say }) => say("The name looks like one of staff"),
  local: ({ say }) => say("The name looks like one of people here"),
  followed: ({ say }) => say("The name looks like one whom many follow")
}
const avatarTexts: Names<Lookalike> = {
  staff: ({ say }) => say("The picture looks like one of staff"),
  local: ({ say }) => say("The picture looks like one of people here"),
  followed: ({ say }) => say("The picture looks like one whom many follow")
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
            hint: say("Moderators read it in a report; nobody else sees it."),
            value: rule?.name ?? "",
            max: nameCharactersMax,
            required: true
          })
        }${
          select(visit, {
            name: "state",
            label: say("State"),
            hint: say("One that only counts does nothing to anybody."),
            value: rule?.state ?? "off",
            choices: choicesOf(words, stateNames, ["off", "dry", "on"])
          })
        }${
          select(visit, {
            name: "action",
            label: say("What becomes of it"),
            value: rule?.action ?? "report",
            choices: choicesOf(words, spamActionNames, ["pass", "score", "report", "limit", "hold", "drop"])
          })
        }${
          textField(visit, {
            name: "score",
            type: "number",
            label: say("What is added to the score"),
            hint: say("After a week half of it is left."),
            value: String(rule?.score ?? 1)
          })
        }`
      )
    }${
      section(
        say("Conditions"),
        html`<p class="soft">${
          say("All that you fill in has to hold; of a list, one line is enough. What is empty is not asked.")
        }</p>${
          listNames.map((name) =>
            textArea(visit, {
              name: fieldOf(name),
              label: listTexts[name](words),
              hint: say("One a line."),
              value: conditions[name]?.join("\n") ?? "",
              rows: 3
            })
          )
        }${
          select(visit, {
            name: "origin",
            label: say("Where the author is"),
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

const given = <Key extends string, Value>(entries: ReadonlyArray<readonly [Key, Value]>) =>
  Object.fromEntries(entries) as Partial<Record<Key, Value>>

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
      lists: given(listNames.map((name) => [name, (sent.get(fieldOf(name)) ?? "").split(/[\r\n]+/)] as const)),
      numbers: given(numbers),
      origin: sent.get("origin") ?? undefined,
      lookAlike: sent.getAll("look_alike"),
      avatarAlike: sent.getAll("avatar_alike")
    }
  }
})
