import type { Mutant } from "./Mutant.ts"

/** A crash in between repeats the step, which counts its entries twice. */
const cursorApart: Mutant = {
  name: "a step of an import commits its progress before its writes",
  mutation: {},
  planted: {
    file: "services/transfers/TransferQueue.ts",
    from: "}).pipe(transaction(sql), Effect.withSpan(\"TransferQueue.commit\"))",
    times: 1,
    to: (on) => `}).pipe(${on} ? (apart) => apart : transaction(sql), Effect.withSpan("TransferQueue.commit"))`
  },
  breaks: /^I36/,
  transfers: true,
  foundAt: 1,
  seedsMax: 10
}

/** The undo ends after its first step. */
const undoneInPart: Mutant = {
  name: "an undo leaves posts of the import",
  mutation: {},
  planted: {
    file: "actors/transfers/ArchiveUndos.ts",
    from: "const end: StepEnd = count < deletedPerStep",
    times: 1,
    to: (on) => `const end: StepEnd = ${on} || count < deletedPerStep`
  },
  breaks: /^I36/,
  transfers: true,
  commands: 1,
  foundAt: 1,
  seedsMax: 10
}

/** A node that was frozen commits a step that another node has done in the meantime. */
const leaseIgnored: Mutant = {
  name: "a step of a transfer commits without its lease",
  mutation: {},
  planted: {
    file: "services/transfers/TransferQueue.ts",
    from: "AND due_at = ${dueAt}`",
    times: 1,
    to: (on) => `AND (${"${"}${on}} OR due_at = ${"${dueAt}"})\``
  },
  breaks: /^I36/,
  transfers: true,
  foundAt: 5,
  seedsMax: 30
}

/** Bugs of imports and their undoes. */
export const transferMutants: ReadonlyArray<Mutant> = [cursorApart, undoneInPart, leaseIgnored]
