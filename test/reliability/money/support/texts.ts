import { countTokens, decode, encode } from 'gpt-tokenizer/encoding/o200k_base'

/** Texts of kinds whose tokens are counted very differently, with this many characters each. */
export function textsOf(random: () => number, length: number): Readonly<Record<string, string>> {
  const drawn = (alphabet: string) => drawnFrom([...alphabet], length, random)
  return {
    English: repeated(english, length),
    code: repeated(code, length),
    Chinese: repeated(chinese, length),
    Japanese: repeated(japanese, length),
    Korean: repeated(korean, length),
    Russian: repeated(russian, length),
    emoji: drawn('😀😂🥰👍🔥🎉🚀🐱🍕🌍🤖💡⚡✅❤🙏🧠🐙'),
    digits: drawn('0123456789'),
    numbers: words('0123456789', length, random),
    base64: drawn(`${lower}${lower.toUpperCase()}0123456789+/`),
    hexadecimal: drawn('0123456789abcdef'),
    letters: drawn(lower),
    words: words(lower, length, random),
    consonants: words('bcdfghjklmnpqrstvwxz', length, random),
    capitals: words(lower.toUpperCase(), length, random),
    punctuation: drawn('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'),
    'rare letters': drawn('ƀƆɐʔԱԲ܀ߊܢѢѪӜ͘'),
    'rare scripts': drawn('ሀሎᎣᏫႠ꙲ꭰᠠ฿ကទ𒀀𐎀𓀀𝔸'),
    'drawing signs': drawn('─│┌┐└┘█░▒▓⠁⠃⣿←↑→↓∀∃∑√∞≈≠'),
    ASCII: drawn(Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('')),
  }
}

/** How many tokens the text is, exactly. */
export function tokensIn(text: string): number {
  return countTokens(text)
}

/** The text in chunks of this many tokens each, or more where a character has more. */
export function piecesOf(text: string, size: number): string[] {
  const pieces: string[] = []
  let tokens: number[] = []
  for (const token of encode(text)) {
    tokens.push(token)
    const piece = decode(tokens)
    if (tokens.length < size || piece.includes('\uFFFD')) continue
    pieces.push(piece)
    tokens = []
  }
  return tokens.length > 0 ? [...pieces, decode(tokens)] : pieces
}

const lower = 'abcdefghijklmnopqrstuvwxyz'

function repeated(text: string, length: number): string {
  return text.repeat(Math.ceil(length / text.length)).slice(0, length)
}

function drawnFrom(alphabet: readonly string[], length: number, random: () => number): string {
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('')
}

function words(alphabet: string, length: number, random: () => number): string {
  const letters = [...alphabet]
  let text = ''
  while (text.length < length) text += `${drawnFrom(letters, 1 + Math.floor(random() * 9), random)} `
  return text.slice(0, length)
}

const english = `The river rises in the hills above the town, where two small streams meet below an old mill. In spring
it carries the water of the melting snow, and for some weeks the lower meadows are flooded. Most people who live there
have learned to store their tools upstairs. "We would rather move the furniture," one of them said in 2019, "than the
house." A report by the regional council recommends a new dam; its cost is estimated at 12.5 million, of which about a
third has been approved so far. Whether it will be built before the next flood, nobody can tell. `

const code = `export async function readAll(source: Source<Item>, limit = 100): Promise<readonly Item[]> {
  const items: Item[] = []
  for await (const item of source) {
    if (items.length >= limit) throw new RangeError(\`more than \${limit} items\`)
    items.push({ ...item, id: item.id ?? nextId(), seen: Date.now() })
  }
  return items.filter(({ deleted }) => !deleted).map(toItem)
}

SELECT id, sum(amount) AS total FROM ledger WHERE organization_id = ?1 AND created_at >= ?2 GROUP BY id;
`

const chinese =
  '人工智能是计算机科学的一个分支，它企图了解智能的实质，并生产出一种新的能以人类智能相似的方式做出反应的智能机器。该领域的研究包括机器人、语言识别、图像识别、自然语言处理和专家系统等。河水每年春天都会上涨，淹没低处的草地。'

const japanese =
  '人工知能とは、計算という概念とコンピュータという道具を用いて知能を研究する計算機科学の一分野を指す語である。ゲートウェイはプロバイダーにリクエストを送り、その返事をクライアントに返します。春になると川の水かさが増します。'

const korean =
  '인공지능은 인간의 학습능력, 추론능력, 지각능력을 인공적으로 구현하려는 컴퓨터 과학의 세부분야 중 하나이다. 봄이 되면 강물이 불어나 낮은 초원이 물에 잠긴다. '

const russian =
  'Искусственный интеллект — свойство систем выполнять творческие функции, которые традиционно считаются прерогативой человека. Весной река поднимается и затапливает нижние луга. '
