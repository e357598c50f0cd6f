import { nameSet } from '../../lib/text.ts'

/** Whether the word is one of those in which providers speak of requests, in any case and with a common ending. */
export function isKnownWord(word: string): boolean {
  const lower = word.toLowerCase()
  if (knownWords.has(lower)) return true
  return endings.some(
    ([ending, end]) => lower.endsWith(ending) && isStem(lower.slice(0, -ending.length) + end),
  )
}

/** Each ending, with that of the word without it. */
const endings = [
  ['s', ''],
  ['es', ''],
  ['ies', 'y'],
  ['d', ''],
  ['ed', ''],
  ['ied', 'y'],
  ['ing', ''],
  ['ing', 'e'],
  ['ly', ''],
] as const

/** A short word with an ending can be another word: “be” and “bed”. */
function isStem(word: string): boolean {
  return word.length >= 4 && knownWords.has(word)
}

/** No word here says anything of a person or of what a prompt is about. */
const knownWords = nameSet(
  // Of the language.
  'a about above after again all allow almost alone along already also although always an and another any are aren',
  'as at be because been before being below beyond both but by can cannot could couldn did didn do does doesn don',
  'done during each either else enough even ever every few first for four from further had has hasn have how',
  'however if in instead into is isn it its itself just last later least less let ll longer many may maybe might',
  'more most much must near neither never next no non none nor not now of off often on once one only or other',
  'otherwise our out over own per please quite rather re s same second seem several shall should since so some soon',
  'sorry still such sure t than that the their them then there these they third this those three through thus to',
  'too two under unless until up upon us ve very via was we were what when where whether which while why will with',
  'within without won would wouldn yes yet you your',
  // Of requests and their parts.
  'accept access account action active add additional address adjust adjustment ai allocate allocation alternate',
  'alternative amount api app application apply area argument array assign assistant attach attachment attempt',
  'attention audio auth authenticate authentication authorization authorize automatic available average backend',
  'background backoff bad balance base batch bearer begin beginning beta bias billing bit block body boolean',
  'boundary budget buffer busy byte cache call cancel candidate capability capacity category center change',
  'character chat check choice choose chunk class client close cluster code cold combination combine comma command',
  'compact compatible complete completion compliance compress compression compute concurrency concurrent condition',
  'config configuration configure conflict connect connection console consume contact contain content context',
  'continue control controlled conversation convert correct correspond cost count cpu create credential credit cuda',
  'current custom daily dashboard data date day decimal declaration decode deduct default define definition delay',
  'delete delta demand deny deploy deployment deprecate depth describe description detail detect determine dev',
  'developer dict dictionary differ different digit dimension direct disable disallow disconnect doc document',
  'documentation domain download downstream dropped due duplicate duration dynamic early effort element eligible',
  'embed embedding empty enable encode encounter encrypt end endpoint engine ensure enter entire entity entry enum',
  'environment equal error estimate evaluate event exact example exceed except exception exclusive execute',
  'execution exhaust exist expect experience experimental expire explain explicit explore extend extension external',
  'extra fail failure false fast fatal feature fetch field file fill filter final find finish fix flag flagged flex',
  'float follow forbid forbidden format formatted found free frequency frequent full function gateway gb generate',
  'generation generative get getting gib gif give given global go goes got gpu grammar grant greater group guide',
  'guideline handle hard head header heavy help here high higher history hit host hour html http id identifier identity',
  'idle ids ignore image immediately impact implement import improve inactive include incoming incompatible',
  'incomplete incorrect increase index individual inference info inform information initial initialize inline inner',
  'input inspect instance instruct instruction insufficient integer interface internal interrupt introduce invalid',
  'invalidate invocation invoke issue item itpm jinja jpeg jpg json k kb keep kernel key keyword kib kind know',
  'known kv label lack language large larger latency latest layer lead learn leave left legacy length letter level',
  'lifetime limit limitation line link list literal little load local locate location lock log logged logit logprob',
  'long low lower made main maintenance make malformed manage management manual map mapping mark mask match max',
  'maximal maximum mb mcp mean media medium meet memory message meta metadata method metric mib middle migrate',
  'migration mime min minimal minimum minus minute mismatch miss mixed ml modality mode model moderation modify',
  'moment monitor month move mp ms multi multimodal multiple mutual n name namespace native necessary need negative',
  'nest network new node normal note null nullable number numeric object obtain occur offline offset ok old older',
  'omit omitted online onward open operation operator option optional order organization origin original otpm',
  'outage outer output outside overall overload override owner p package page paid pair parallel param parameter',
  'parent parse parser part partial pass past path pattern pause pay payload pdf penalty pending percent perform',
  'performance period permanent permission permit permitted persist phase pixel place plain plan platform plugin',
  'plus png point policy pool port position positive possible post precede precision predict prediction prefer',
  'prefill prefix prepare presence present prevent preview previous price primary priority private privilege',
  'problem proceed process produce product profile prohibit project prompt proper property protocol provide',
  'provider provision proxy public purchase put qualify quality quantity query queue quick quota raise random range',
  'rate ratio raw reach read ready real reason receive recent recognize recommend record recover recursion',
  'recursive redirect reduce refer reference refresh refuse regex region regional register reject rejection relate',
  'release relevant reload remain remote remove render repeat repetition replace report repository represent',
  'request require requirement reserve reset resolution resolve resource respond response responsible restart',
  'restrict restriction result resume retain retrieve retry retryable return review revision revoke role root route',
  'router row rpd rpm rule run runner running runtime safe safety sample save scale schema scope script search sec',
  'section security see seed segment select self send sent separate sequence serial serialize serve server',
  'serverless service session set setting setup shape share short shorter show shut sign signature similar simple',
  'simultaneous single size skip slot slow small smaller soft source special specific specification specify split',
  'stable stage standard start state status step stop stopped storage store stream strict string strip strong',
  'structure style sub subject submit submitted subscribe subscription succeed success successful suffix suggest',
  'suit sum summary supply support suspend switch symbol sync syntax system table tag take taken target task team',
  'temperature template temporarily temporary term terminate test text think thought thread threshold throttle',
  'throughput throw tier time timeout timestamp title tls token tokenize tokenizer tool top total tpd tpm trace',
  'track traffic trail transaction transfer transform transient transmit tried tries trigger trim true truncate',
  'truncation try trying turn type ui unable unauthenticated unauthorized unavailable unchanged undefined',
  'underscore unexpected unhandled unicode union unique unit unknown unlimited unload unprocessable unreachable',
  'unrecognized unsafe unset unsupported unused update upgrade upload upper upstream uri url usage use used user',
  'using utf uuid v valid validate validation value variable various verbosity verify version video view violate',
  'violation visit vocabulary wait wall want warning web webp week weight whereas whole window word work worker',
  'wrap write written wrong x xhigh xml yaml zero',
)
