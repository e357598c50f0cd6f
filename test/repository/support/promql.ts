/** One use of a metric in an expression: its name, and the labels that it is selected by. */
export type MetricUse = { readonly metric: string; readonly labels: readonly string[] }

/** The metrics and the label values of a PromQL expression. */
export type Expression = {
  readonly uses: readonly MetricUse[]
  /** The labels that the expression groups or joins by. */
  readonly groupedBy: readonly string[]
  /** The values that labels are compared with, those of alternatives one by one. */
  readonly values: readonly (readonly [label: string, value: string])[]
}

/** Words of the language that stand where a metric could. */
const keywords = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right', 'offset', 'bool'])
const operators = new Set(['and', 'or', 'unless', 'inf', 'nan'])

const selectorPattern = /(?<![\w.$])([a-zA-Z_:][\w:]*)\s*(?:\{([^{}]*)\})?(?=(\s*\()?)/g
const matcherPattern = /(\w+)\s*(?:=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g
const groupingPattern = /\b(?:by|without|on|ignoring)\s*\(([^()]*)\)/g

/** Reads the names of an expression. It is not a parser: whether the expression is valid is the business of Prometheus. */
export function parseExpression(text: string): Expression {
  const groupedBy = [...text.matchAll(groupingPattern)].flatMap(([, list = '']) => namesIn(list))
  const plain = text.replaceAll(groupingPattern, ' ').replaceAll(/\[[^\]]*\]/g, '')
  const uses: MetricUse[] = []
  const values: [string, string][] = []
  for (const [, name = '', matchers, isCall] of plain.matchAll(selectorPattern)) {
    const known = keywords.has(name) || operators.has(name)
    if (known || (isCall !== undefined && matchers === undefined)) continue
    const pairs = [...(matchers ?? '').matchAll(matcherPattern)]
    uses.push({ metric: name, labels: pairs.map(([, label = '']) => label) })
    for (const [, label = '', value = ''] of pairs)
      values.push(...value.split('|').map((each) => [label, each] as [string, string]))
  }
  return { uses, groupedBy, values }
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** Returns the labels of each metric in a page of the Prometheus text format. */
export function labelsByMetric(page: string): ReadonlyMap<string, ReadonlySet<string>> {
  const metrics = new Map<string, Set<string>>()
  for (const [, name = '', labels = ''] of page.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/gm)) {
    const known = metrics.get(name) ?? new Set()
    metrics.set(name, known)
    for (const [, label = ''] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label)
  }
  return metrics
}
