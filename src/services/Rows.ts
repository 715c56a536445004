/** The row of a statement that gives exactly one, as INSERT ... RETURNING does; none is a defect of the statement. */
export const only = <Row>([row]: ReadonlyArray<Row>): Row => {
  if (row === undefined) throw new Error("A statement that gives one row gave none")
  return row
}
