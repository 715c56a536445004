import { Effect, Layer } from "effect"
import { CliOutput, type HelpDoc, TerminalCapabilities } from "effect/cli"
import { exitCodes } from "../layers/OperatorError.ts"

const section = (title: string, lines: ReadonlyArray<string>) => [title, ...lines.map((line) => `  ${line}`)].join("\n")

const formatted =
  (plain: CliOutput.Formatter, bold: (text: string) => string) =>
  ({ description, examples = [], ...rest }: HelpDoc.HelpDoc) =>
    [
      section(bold("DESCRIPTION"), [description]),
      ...(examples.length === 0 ? [] : [
        section(bold("EXAMPLES"), examples.flatMap((one) => [`# ${one.description ?? ""}`, one.command]))
      ]),
      // Without a description and examples, the formatter starts with the usage.
      plain.formatHelpDoc({ description: "", ...rest }),
      ...(rest.commandPath?.length === 1
        ? [section(bold("EXIT CODES"), Object.entries(exitCodes).map(([code, meaning]) => `${code}  ${meaning}`))]
        : [])
    ].join("\n\n")

/** Help of commands: description, examples, then usage, arguments and flags. That of the program has the exit codes. */
export const layer = Layer.effect(
  CliOutput.Formatter,
  Effect.map(TerminalCapabilities.TerminalCapabilities, ({ canColor }) => {
    const plain = CliOutput.defaultFormatter({ colors: canColor, globalFlags: "summary" })
    const bold = (text: string) => canColor ? `\u001b[1m${text}\u001b[0m` : text
    return { ...plain, formatHelpDoc: formatted(plain, bold) }
  })
)
