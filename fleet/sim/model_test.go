package sim

// The figures of the simulation that the design was made with. Its members were models.

// steadyRow is a row of the table of fleets that nothing happens to. The figures are those of a
// burst of 1 s and then of 0.1 s, one after the other.
type steadyRow struct {
	rate    float64
	members int
	even    bool
	near    []float64 // goodput and throttled %, store at 1 ms, seconds 30 to 90
	more    []float64 // Jain, s until settled twice, calls/s
	far     []float64 // goodput and throttled %, store at 50 ms
	late    []float64 // goodput and throttled %, store at 1 ms, seconds 150 to 210
}

var steadyPage = []steadyRow{
	{5, 2, false, []float64{1.00, 1.32, 0.88, 1.86}, []float64{0.99, 12, 11, 5}, []float64{1.00, 1.43, 0.88, 1.50}, []float64{1.00, 1.21, 0.86, 1.27}},
	{5, 10, false, []float64{1.00, 1.43, 0.86, 1.91}, []float64{0.92, 18, 18, 11}, []float64{1.00, 1.32, 0.85, 1.66}, []float64{1.00, 1.21, 0.86, 1.52}},
	{5, 100, false, []float64{1.00, 1.53, 0.85, 1.91}, []float64{0.78, 18, 17, 11}, []float64{1.00, 1.53, 0.86, 1.28}, []float64{1.00, 1.32, 0.86, 1.39}},
	{5, 1000, false, []float64{0.94, 0.00, 0.88, 0.13}, []float64{0, 20, 25, 73}, []float64{0.95, 0.00, 0.87, 0.00}, []float64{0.98, 0.00, 0.89, 0.37}},
	{100, 2, false, []float64{1.00, 0.21, 0.99, 0.20}, []float64{1.00, 11, 6, 25}, []float64{1.00, 0.44, 1.00, 0.19}, []float64{1.00, 0.18, 0.99, 0.17}},
	{100, 10, false, []float64{1.00, 0.82, 0.99, 0.23}, []float64{1.00, 0, 4, 39}, []float64{1.00, 1.06, 0.99, 0.29}, []float64{1.00, 0.27, 0.99, 0.22}},
	{100, 100, false, []float64{0.98, 1.55, 0.99, 0.62}, []float64{1.00, 7, 11, 167}, []float64{1.00, 0.75, 0.98, 0.42}, []float64{1.00, 1.47, 0.99, 0.59}},
	{100, 1000, false, []float64{0.98, 1.91, 0.99, 0.59}, []float64{0.92, 11, 17, 209}, []float64{0.99, 2.55, 0.98, 0.52}, []float64{1.00, 1.61, 0.99, 0.41}},
	{500, 2, false, []float64{1.00, 0.14, 1.00, 0.19}, []float64{1.00, 16, 17, 23}, []float64{1.00, 0.45, 1.00, 0.16}, []float64{1.00, 0.16, 1.00, 0.14}},
	{500, 10, false, []float64{1.00, 0.23, 1.00, 0.21}, []float64{1.00, 3, 7, 35}, []float64{1.00, 0.25, 1.00, 0.31}, []float64{1.00, 0.18, 1.00, 0.21}},
	{500, 100, false, []float64{1.00, 0.69, 1.00, 0.34}, []float64{1.00, 0, 2, 197}, []float64{1.00, 0.57, 1.00, 0.29}, []float64{1.00, 0.35, 1.00, 0.19}},
	{500, 1000, false, []float64{1.00, 1.29, 1.00, 0.64}, []float64{0.99, 7, 6, 1062}, []float64{1.00, 1.18, 1.00, 0.58}, []float64{1.00, 0.88, 0.99, 0.71}},
	{5000, 2, false, []float64{1.01, 0.08, 1.00, 0.04}, []float64{1.00, 0, 0, 15}, []float64{0.79, 0.00, 0.81, 0.00}, []float64{1.00, 0.02, 1.00, 0.03}},
	{5000, 10, false, []float64{1.00, 0.11, 1.00, 0.24}, []float64{1.00, 0, 15, 35}, []float64{1.00, 0.27, 1.00, 0.21}, []float64{1.00, 0.17, 1.00, 0.15}},
	{5000, 100, false, []float64{1.00, 0.87, 1.00, 0.46}, []float64{1.00, 0, 4, 170}, []float64{1.00, 1.79, 0.99, 0.28}, []float64{1.00, 1.09, 1.00, 0.13}},
	{5000, 1000, false, []float64{1.00, 0.64, 1.00, 0.36}, []float64{0.99, 0, 0, 1657}, []float64{1.00, 0.70, 0.99, 0.44}, []float64{1.00, 1.00, 0.99, 0.37}},
	{5000, 10000, false, []float64{1.00, 1.37}, []float64{0.99, 6, 0, 10634}, nil, nil},
	{500, 100, true, []float64{1.00, 0.60, 1.00, 0.31}, []float64{1.00, 6, 6, 281}, []float64{1.00, 0.49, 1.00, 0.34}, nil},
	{100, 100, true, []float64{1.00, 0.91, 1.00, 0.70}, []float64{0.99, 8, 7, 212}, []float64{1.00, 1.07, 1.00, 0.60}, nil},
}

// alonePage is the throttled % of independent clients, for rows with 100 members, with a burst
// of 1 s and of 0.1 s.
var alonePage = map[steadyKey][2]float64{
	{100, false}: {19.4, 19.7},
	{500, false}: {4.1, 4.3},
	{500, true}:  {9.0, 8.9},
	{100, true}:  {34.2, 34.6},
}

type steadyKey struct {
	rate float64
	even bool
}

// scenarioRow is a row of the table of what can happen: goodput and throttled % of each window,
// and after R doubles or halves the s until the fleet has settled, before these two.
type scenarioRow struct {
	rate    float64
	members int
	burst   float64 // s
	figures []float64
}

var scenarioPage = []scenarioRow{
	{5, 10, 1, []float64{49, 0.68, 0.5, 16, 1.00, 14.8, 0.95, 0.0, 1.00, 2.0, 1.00, 1.0, 1.00, 1.0, 1.00, 1.5}},
	{100, 100, 1, []float64{18, 0.88, 2.1, 2, 0.99, 3.8, 0.97, 0.0, 0.99, 2.6, 1.00, 1.9, 1.00, 0.4, 0.97, 1.6}},
	{100, 100, 0.1, []float64{15, 0.89, 0.6, 4, 0.98, 3.4, 0.95, 1.2, 0.72, 3.8, 0.99, 0.8, 0.99, 0.7, 0.98, 1.9}},
	{100, 1000, 1, []float64{16, 0.88, 5.7, 3, 1.01, 3.1, 0.65, 0.0, 1.00, 4.0, 1.01, 2.2, 1.00, 0.5, 0.99, 1.6}},
	{500, 10, 1, []float64{12, 0.93, 1.6, 4, 1.00, 2.3, 0.97, 0.0, 1.03, 0.4, 1.00, 0.3, 1.00, 0.5, 1.00, 0.7}},
	{500, 100, 1, []float64{8, 0.95, 3.1, 3, 1.01, 4.4, 0.97, 0.0, 1.03, 0.3, 1.00, 0.4, 1.00, 0.2, 0.97, 2.8}},
	{500, 100, 0.1, []float64{12, 0.91, 0.8, 2, 0.99, 2.8, 0.97, 0.0, 0.88, 3.1, 1.00, 0.2, 0.99, 0.4, 0.94, 1.2}},
	{500, 1000, 1, []float64{9, 0.94, 1.9, 5, 1.00, 3.7, 0.97, 0.0, 1.02, 0.6, 1.00, 2.0, 1.00, 1.4, 1.00, 1.1}},
	{5000, 100, 1, []float64{12, 0.93, 2.0, 12, 0.99, 4.4, 0.98, 0.0, 1.03, 1.3, 1.00, 0.8, 1.00, 0.5, 1.00, 1.6}},
	{5000, 1000, 1, []float64{4, 0.99, 2.0, 2, 1.00, 2.2, 0.97, 0.0, 1.03, 2.0, 1.00, 0.6, 1.00, 1.1, 1.00, 3.8}},
}

// cutOffPage is goodput and throttled % in the minute in which half of the members are cut off,
// and in 30 s after it; R 500, burst 1 s.
var cutOffPage = []scenarioRow{
	{500, 10, 1, []float64{1.00, 0.2, 0.99, 2.6}},
	{500, 100, 1, []float64{1.00, 1.2, 0.95, 4.0}},
}

// lullPage is the throttled % of the ten seconds after two minutes with a tenth of the demand;
// R 500, burst 1 s. Its goodput was not given.
var lullPage = []scenarioRow{
	{500, 10, 1, []float64{0, 5.8}},
	{500, 100, 1, []float64{0, 5.1}},
}
