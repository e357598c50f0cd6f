/** Why a change by the operator is not possible: the object does not exist, or the change is not valid for it. */
export type OperatorProblem = 'missing' | 'invalid'

/** A change that the operator requested is not possible; the message says why. */
export class OperatorError extends Error {
  readonly problem: OperatorProblem

  constructor(problem: OperatorProblem, message: string) {
    super(message)
    // As the plain error that the command line prints.
    this.name = 'Error'
    this.problem = problem
  }
}
