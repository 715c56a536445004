import { Console, Effect, Layer, Option } from "effect"
import { CliOutput, type HelpDoc, TerminalCapabilities } from "effect/cli"
import { exitCodes } from "../layers/OperatorError.ts"
import { typed } from "./Examples.ts"

const section = (title: string, lines: ReadonlyArray<string>) => [title, ...lines.map((line) => `  ${line}`)].join("\n")

/** Marks a required flag in its description. */
const marked = (flag: HelpDoc.FlagDoc) =>
  flag.required ? { ...flag, description: Option.map(flag.description, (text) => `${text} (required)`) } : flag

const formatted =
  (plain: CliOutput.Formatter, bold: (text: string) => string) =>
  ({ description, examples = [], flags, globalFlagsScope, usage, ...rest }: HelpDoc.HelpDoc) =>
    [
      section(bold("DESCRIPTION"), [description]),
      ...(examples.length === 0 ? [] : [
        section(bold("EXAMPLES"), examples.flatMap((one) => [`# ${one.description ?? ""}`, one.command]))
      ]),
      // Without a description and examples, the formatter starts with the usage.
      plain.formatHelpDoc({
        description: "",
        usage: typed(usage),
        flags: flags.map(marked),
        ...(globalFlagsScope && { globalFlagsScope: globalFlagsScope.map(typed) }),
        ...rest
      }),
      ...(rest.commandPath?.length === 1
        ? [section(bold("EXIT CODES"), Object.entries(exitCodes).map(([code, meaning]) => `${code}  ${meaning}`))]
        : [])
    ].join("\n\n")

const formatter = Layer.effect(
  CliOutput.Formatter,
  Effect.map(TerminalCapabilities.TerminalCapabilities, ({ canColor }) => {
    const plain = CliOutput.defaultFormatter({ colors: canColor, globalFlags: "summary" })
    const bold = (text: string) => canColor ? `\u001b[1m${text}\u001b[0m` : text
    return { ...plain, formatHelpDoc: formatted(plain, bold) }
  })
)

/** Prints help after wrong usage to standard error: standard output has results only. */
const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.flatMap(
        CliOutput.Formatter,
        ({ formatErrors, formatHelpDoc }) =>
          Console.error(`${formatHelpDoc(event.helpDoc)}\n${formatErrors(event.errors)}`)
      )
      : CliOutput.defaultPresenter.present(event)
})

/** Help of commands: description, examples, then usage, arguments and flags. That of the program has the exit codes. */
export const layer = Layer.merge(formatter, presenter)
