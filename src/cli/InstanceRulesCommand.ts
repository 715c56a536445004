import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OperatorError } from "../layers/OperatorError.ts"
import { Instance } from "../services/instance/Instance.ts"
import { InstanceRules } from "../services/instance/InstanceRules.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import * as InstanceServices from "./InstanceServices.ts"
import { asOperatorError } from "./Lookup.ts"
import { json, printList } from "./Output.ts"

const number = Argument.Int("number").pipe(Argument.withDescription("Number of the rule in `rules list`"))
const text = Argument.String("text").pipe(Argument.withDescription("The rule, in a sentence"))
const hint = Flag.String("hint").pipe(Flag.withDescription("Longer explanation"))

/** Returns the rule with this number, counted from 1 as in the list. */
const ruleAt = Effect.fnUntraced(function*(place: number) {
  const rule = (yield* (yield* Instance).rules)[place - 1]
  return rule ?? (yield* new OperatorError({ message: `There is no rule ${place}` }))
})

const list = Command.make(
  "list",
  { json },
  traced("instance rules list")(function*(given) {
    const rules = yield* (yield* Instance).rules
    const lines = rules.flatMap(({ hint, text, translations }, index) =>
      [`${index + 1}. ${text}${hint === "" ? "" : ` (${hint})`}`].concat(
        Object.entries(translations).map(([language, translated]) => `   ${language}: ${translated.text}`)
      )
    )
    yield* printList(
      given.json,
      rules.map(({ hint, id, text, translations }, index) => ({ number: index + 1, id, text, hint, translations })),
      lines,
      "There are no rules."
    )
  }, (effect) => Effect.provide(effect, InstanceServices.layer))
).pipe(
  Command.withDescription("Lists the rules with their numbers"),
  withExamples(["", "Lists the rules"])
)

const add = Command.make(
  "add",
  { text, hint: Flag.withDefault(hint, "") },
  traced("instance rules add")(function*(rule) {
    yield* asOperatorError((yield* InstanceRules).add(undefined, rule))
    yield* Console.log("The rule was added.")
  }, (effect) => Effect.provide(effect, InstanceServices.layer))
).pipe(
  Command.withDescription("Adds a rule at the end of the list"),
  withExamples(["\"Be kind\" --hint \"To strangers too\"", "Adds a rule with an explanation"])
)

const change = Command.make(
  "change",
  {
    number,
    text: Flag.String("text").pipe(Flag.withDescription("New text of the rule"), Flag.optional),
    hint: Flag.optional(hint)
  },
  traced("instance rules change")(function*(given) {
    const { id } = yield* ruleAt(given.number)
    const rule = { text: Option.getOrUndefined(given.text), hint: Option.getOrUndefined(given.hint) }
    yield* asOperatorError((yield* InstanceRules).change(undefined, id, rule))
    yield* Console.log(`Rule ${given.number} was changed.`)
  }, (effect) => Effect.provide(effect, InstanceServices.layer))
).pipe(
  Command.withDescription("Changes a rule's text; an empty hint (\"\") removes the hint"),
  withExamples(["1 --text \"Be kind\"", "Changes the first rule"])
)

const translate = Command.make(
  "translate",
  {
    number,
    language: Argument.String("language").pipe(
      Argument.withDescription("Tag of the language, for example de or pt-BR")
    ),
    text: Argument.optional(text),
    hint: Flag.withDefault(hint, "")
  },
  traced("instance rules translate")(function*(given) {
    const { id } = yield* ruleAt(given.number)
    const rule = Option.map(given.text, (words) => ({ text: words, hint: given.hint }))
    yield* asOperatorError((yield* InstanceRules).change(undefined, id, {
      translations: { [given.language]: Option.getOrUndefined(rule) }
    }))
    yield* Console.log(
      `Rule ${given.number} was ${Option.isSome(rule) ? "translated" : "no longer translated into that language"}.`
    )
  }, (effect) => Effect.provide(effect, InstanceServices.layer))
).pipe(
  Command.withDescription("Translates a rule into another language; without a text it removes the translation"),
  withExamples(["1 de \"Sei freundlich\"", "Translates the first rule"], ["1 de", "Removes the translation"])
)

const move = Command.make(
  "move",
  { number, to: Argument.Int("to").pipe(Argument.withDescription("New number of the rule")) },
  traced("instance rules move")(function*(given) {
    yield* asOperatorError(
      (yield* InstanceRules).change(undefined, (yield* ruleAt(given.number)).id, { place: given.to })
    )
    yield* Console.log(`Rule ${given.number} is now rule ${given.to}.`)
  }, (effect) => Effect.provide(effect, InstanceServices.layer))
).pipe(
  Command.withDescription("Moves a rule within the list"),
  withExamples(["3 1", "Moves the third rule to the top"])
)

const remove = Command.make(
  "remove",
  { number },
  traced("instance rules remove")(function*(given) {
    yield* asOperatorError((yield* InstanceRules).remove(undefined, (yield* ruleAt(given.number)).id))
    yield* Console.log(`Rule ${given.number} was removed.`)
  }, (effect) => Effect.provide(effect, InstanceServices.layer))
).pipe(
  Command.withDescription("Removes a rule"),
  withExamples(["3", "Removes the third rule"])
)

export const rules = Command.make("rules").pipe(
  Command.withDescription("The server's rules"),
  withExamples(["add \"Be kind\"", "Adds a rule"]),
  Command.withSubcommands([list, add, change, translate, move, remove])
)
