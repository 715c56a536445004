/* Rules of what a transaction may do, by the texts of its statements. */

const checksOwner = /\bactors\b[\s\S]*FOR SHARE/
const ofOwner = /UPDATE inbound_activities i SET outcome/

/** A transaction so far. */
export interface Written {
  checked: boolean
  owned: boolean
}

export const nothing = (): Written => ({ checked: false, owned: false })

/** Takes a statement; answers whether the transaction ends with it, and did an owner's work without asking who that is. */
export const isUnowned = (written: Written, text: string) => {
  written.checked ||= checksOwner.test(text)
  written.owned ||= ofOwner.test(text)
  return text.endsWith("COMMIT") && written.owned && !written.checked
}
