/* Rules for transactions, checked by the texts of their statements. */

const checksOwner = /\bactors\b[\s\S]*FOR SHARE/
const ofOwner = /UPDATE inbound_activities i SET outcome/

/** State of a transaction so far. */
export interface Written {
  checked: boolean
  owned: boolean
}

export const nothing = (): Written => ({ checked: false, owned: false })

/** Records a statement; returns true if it ends a transaction that did an owner's work without checking the owner. */
export const isUnowned = (written: Written, text: string) => {
  written.checked ||= checksOwner.test(text)
  written.owned ||= ofOwner.test(text)
  return text.endsWith("COMMIT") && written.owned && !written.checked
}
