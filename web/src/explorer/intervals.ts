// The interval of a share whose rows come in clusters: that of hcat.statistics.clustered.rate_interval, line by line.
// The jackknife leaves out whole clusters, and Wilson's bounds take its effective number of rows. A test compares both.

export interface Rate {
  count: number
  countClusters: number
  share: number
  low: number
  high: number
}

// As in hcat.statistics.clustered, where the reasons stand.
const PRIOR_CLUSTERS = 0.25
const LEAST_DEGREES = 1
const ROUNDING = 1e-9

/**
 * Returns the weighted share of hits with its interval by cluster.
 *
 * @param rows - Numbers of the rows that count.
 * @param isHit - Whether a row is a hit.
 * @param clusters - Cluster of every row, whole numbers from 0.
 * @param weights - Weight of every row, above 0.
 * @param confidence - Two-sided, in (0, 1).
 */
export function rateInterval(
  rows: ArrayLike<number>,
  isHit: (row: number) => boolean,
  clusters: Int32Array,
  weights: Float32Array,
  confidence: number,
): Rate {
  const count = rows.length
  let last = -1
  for (let index = 0; index < count; index++) last = Math.max(last, clusters[rows[index]!]!)
  const place = new Int32Array(last + 1).fill(-1)
  const codes = new Int32Array(count)
  let size = 0
  for (let index = 0; index < count; index++) {
    const cluster = clusters[rows[index]!]!
    if (place[cluster]! < 0) place[cluster] = size++
    codes[index] = place[cluster]!
  }
  const nothing = { count, countClusters: size, share: NaN, low: NaN, high: NaN }
  if (!count) return nothing
  const byCluster = new Float64Array(size)
  const squares = new Float64Array(size)
  let total = 0
  let hits = 0
  let totalSquares = 0
  for (let index = 0; index < count; index++) {
    const weight = weights[rows[index]!]!
    total += weight
    totalSquares += weight * weight
    byCluster[codes[index]!]! += weight
    squares[codes[index]!]! += weight * weight
    if (isHit(rows[index]!)) hits += weight
  }
  const share = Math.min(1, Math.max(0, hits / total))
  const residuals = new Float64Array(size)
  const squaredResiduals = new Float64Array(size)
  const failing = new Uint8Array(size)
  const passing = new Uint8Array(size)
  let observed = 0
  for (let index = 0; index < count; index++) {
    const row = rows[index]!
    const hit = isHit(row)
    const residual = weights[row]! * ((hit ? 1 : 0) - share)
    residuals[codes[index]!]! += residual
    squaredResiduals[codes[index]!]! += residual * residual
    observed += residual * residual
    if (hit) failing[codes[index]!] = 1
    else passing[codes[index]!] = 1
  }
  let clusterSquares = 0
  let variance = 0
  const pairsByCluster = new Float64Array(size)
  let pairWeight = 0
  let products = 0
  for (let code = 0; code < size; code++) {
    const weight = byCluster[code]!
    clusterSquares += weight * weight
    if (size > 1) variance += (residuals[code]! / (total - weight)) ** 2
    const pairs = weight * weight - squares[code]!
    if (pairs > ROUNDING * weight * weight) {
      pairsByCluster[code] = pairs
      pairWeight += weight
      products += (weight * (residuals[code]! ** 2 - squaredResiduals[code]!)) / pairs
    }
  }
  variance = size > 1 ? (variance * (size - 1)) / size : NaN
  const rowsOfEqualWeight = total ** 2 / totalSquares
  const effectiveClusters = total ** 2 / clusterSquares
  const carrying = Math.min(kish(byCluster, failing), kish(byCluster, passing))
  const variation = share * (1 - share)
  // clusters of one row do not show how alike siblings are
  const showing = Math.min(kish(pairsByCluster, failing), kish(pairsByCluster, passing))
  const likeness = pairWeight && variation > 0 ? Math.min(1, Math.max(0, products / pairWeight / variation)) : 0
  const effect =
    1 + ((showing * likeness + PRIOR_CLUSTERS) / (showing + PRIOR_CLUSTERS)) * (rowsOfEqualWeight / effectiveClusters - 1)
  let effective = rowsOfEqualWeight / effect
  if (variation > 0) {
    const without = (observed / total ** 2 + variation / rowsOfEqualWeight) / 2
    const asRows = variation / without
    effective = Math.min(asRows, variation / ((variance + (variation * effect) / asRows) / 2))
  }
  let degrees = effectiveClusters - 1
  if (carrying > 0) degrees = Math.min(degrees, LEAST_DEGREES + (2 * carrying) / Math.max(1 - 1 / effect, ROUNDING))
  if (!(degrees > ROUNDING)) return { ...nothing, share, low: 0, high: 1 }
  const [low, high] = wilson(share, effective, studentQuantile((1 + confidence) / 2, degrees))
  return { count, countClusters: size, share, low, high }
}

function kish(weights: Float64Array, chosen: Uint8Array): number {
  let sum = 0
  let squares = 0
  for (let code = 0; code < weights.length; code++) {
    if (!chosen[code]) continue
    sum += weights[code]!
    squares += weights[code]! ** 2
  }
  return squares > 0 ? sum ** 2 / squares : 0
}

function wilson(rate: number, count: number, quantile: number): [number, number] {
  const squared = quantile ** 2
  const center = (rate * count + squared / 2) / (count + squared)
  const half = (quantile * Math.sqrt(count * rate * (1 - rate) + squared / 4)) / (count + squared)
  return [Math.min(rate, Math.max(0, center - half)), Math.max(rate, Math.min(1, center + half))]
}

/** Returns the quantile of Student's t for a probability above one half, by bisection of its tail. */
export function studentQuantile(probability: number, degrees: number): number {
  const tail = (value: number) => incompleteBeta(degrees / (degrees + value * value), degrees / 2, 0.5) / 2
  let low = 0
  let high = 2
  while (tail(high) > 1 - probability && high < 1e12) high *= 2
  for (let step = 0; step < 200 && high - low > 1e-13 * high; step++) {
    const middle = (low + high) / 2
    if (tail(middle) > 1 - probability) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** Returns the regularised incomplete beta function by its continued fraction (modified Lentz, Press et al. 2007). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a)
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a
  const least = 1e-300
  let d = 1 / guard(1 - ((a + b) * x) / (a + 1))
  let c = 1
  let fraction = d
  for (let step = 1; step < 500; step++) {
    const twice = 2 * step
    const even = (step * (b - step) * x) / ((a + twice - 1) * (a + twice))
    d = 1 / guard(1 + even * d)
    c = guard(1 + even / c)
    fraction *= d * c
    const odd = (-(a + step) * (a + b + step) * x) / ((a + twice) * (a + twice + 1))
    d = 1 / guard(1 + odd * d)
    c = guard(1 + odd / c)
    fraction *= d * c
    if (Math.abs(d * c - 1) < 1e-15) break
  }
  return front * fraction

  function guard(value: number): number {
    return Math.abs(value) < least ? least : value
  }
}

/** Returns the logarithm of the gamma function (Lanczos 1964, nine coefficients). */
function logGamma(x: number): number {
  const coefficients = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
    -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ]
  let sum = coefficients[0]!
  for (let index = 1; index < coefficients.length; index++) sum += coefficients[index]! / (x - 1 + index)
  const base = x + 6.5
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(base) - base + Math.log(sum)
}
