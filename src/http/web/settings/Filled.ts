/** Values of a form: those that were typed if it is shown again after a refusal, otherwise the stored ones. */
export interface Filled {
  readonly text: (name: string, stored: string) => string
  readonly isOn: (name: string, stored: boolean) => boolean
  readonly all: (name: string, stored: ReadonlyArray<string>) => ReadonlyArray<string>
}

/** Returns the values of a form that was sent; undefined if none was. */
export const filledWith = (sent: URLSearchParams | undefined): Filled => ({
  text: (name, stored) => sent?.get(name) ?? stored,
  isOn: (name, stored) => sent === undefined ? stored : sent.has(name),
  all: (name, stored) => sent === undefined ? stored : sent.getAll(name)
})
